//! What a plane needs for itself: ports and a folder.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that nobody listens on. Another process may be faster; the plane
/// then says which port was taken.
pub(super) fn free(n: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is known: no port comes twice.
    let held: Vec<TcpListener> =
        (0..n).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<io::Result<_>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// An empty folder for one plane.
pub(super) fn fresh_folder() -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("millwright-rig-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}
