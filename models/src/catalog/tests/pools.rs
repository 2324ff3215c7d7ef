//! What pools may buy.
