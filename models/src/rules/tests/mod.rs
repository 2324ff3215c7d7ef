mod build;
mod filters;
mod landing;
mod naive;
mod pairwise;
mod random;
mod volumes;
