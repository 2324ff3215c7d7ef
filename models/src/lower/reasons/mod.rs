//! Why a pod stays pending, in the words of the objects.
//!
//! Every spot that the pod could take (a node that exists, one that the plan
//! buys, one more of any offering) is excluded by something that the pod or a
//! NodePool asks for. The reasons told are a smallest set that excludes all.

mod cause;
mod names;
mod offer;
mod spots;
mod witness;
mod words;

pub use cause::Cause;
pub use names::{expression_words, name, terms_words};
pub use witness::{Why, Witness};
pub use words::taint_words;
