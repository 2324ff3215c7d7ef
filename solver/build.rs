//! HiGHS is a static C++ library whose pkg-config file names neither the C++
//! runtime nor zlib, which it uses if CMake found it.
fn main() {
    println!("cargo:rustc-link-lib=stdc++");
    println!("cargo:rustc-link-lib=z");
    println!("cargo:rerun-if-changed=build.rs");
}
