#!/usr/bin/env bash
# Installs what a fresh Debian machine lacks for building Millwright, and
# builds the HiGHS solver once, outside the tree. Running it again is free.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/env.sh
source scripts/env.sh

say() { printf 'setup: %s\n' "$*" >&2; }

# The C library, not the C++ one (libclang-cpp) that comes with other packages.
has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] ||
        compgen -G '/usr/lib/llvm-*/lib/libclang[.-][s0-9]*' >/dev/null ||
        compgen -G '/usr/lib/*/libclang[.-][s0-9]*' >/dev/null
}

missing_packages() {
    command -v cmake >/dev/null || echo cmake
    command -v ninja >/dev/null || echo ninja-build
    command -v pkg-config >/dev/null || echo pkg-config
    command -v c++ >/dev/null || echo g++
    [ -e /usr/include/zlib.h ] || echo zlib1g-dev
    command -v flock >/dev/null || echo util-linux
    has_libclang || echo libclang-dev
}

install_packages() {
    local packages root=()
    mapfile -t packages < <(missing_packages)
    [ ${#packages[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || {
        say "missing: ${packages[*]}; this is no Debian, please install them by hand"
        exit 1
    }
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            say "missing: ${packages[*]}; as root, run: apt-get install -y ${packages[*]}"
            exit 1
        }
        root=(sudo)
    fi
    say "installing ${packages[*]}"
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
}

check_rust() {
    command -v cargo >/dev/null || {
        say "cargo is missing: install Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or later with rustup (https://rustup.rs)"
        exit 1
    }
    cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
    cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
}

highs_source() {
    cargo fetch --locked --quiet
    cargo metadata --format-version 1 --locked |
        grep -o '"manifest_path":"[^"]*/highs-sys-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4 | xargs -r dirname || true
}

# Into a folder beside the goal, then renamed: a build that is broken off
# leaves nothing that looks finished.
build_highs() {
    local source
    [ -e "$HIGHS_PREFIX/lib/pkgconfig/highs.pc" ] && return 0
    source=$(highs_source)
    if [ -z "$source" ]; then
        say "no crate asks for HiGHS"
        return 0
    fi
    case $source in
    *-"$HIGHS_VERSION") ;;
    *) say "Cargo.lock names $(basename "$source"), scripts/env.sh HiGHS $HIGHS_VERSION"; exit 1 ;;
    esac
    say "building HiGHS $HIGHS_VERSION into $HIGHS_PREFIX (once, some minutes)"
    work=$(mktemp -d "$MILLWRIGHT_CACHE/highs-build.XXXXXX")
    trap 'rm -rf "$work"' EXIT INT TERM
    cmake -S "$source/HiGHS" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAST_BUILD=ON \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_CXX_EXE=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$HIGHS_PREFIX" >"$work/log" 2>&1 &&
        cmake --build "$work/build" >>"$work/log" 2>&1 &&
        DESTDIR="$work/root" cmake --install "$work/build" >>"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        say "HiGHS does not build"
        exit 1
    }
    rm -rf "$HIGHS_PREFIX"
    mv "$work/root$HIGHS_PREFIX" "$HIGHS_PREFIX"
}

install_packages
check_rust
mkdir -p "$MILLWRIGHT_CACHE"
(
    flock 9
    build_highs
) 9>"$MILLWRIGHT_CACHE/lock"
ln -sfn "$HIGHS_PREFIX" .highs
