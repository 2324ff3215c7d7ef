# Source this to build without the Makefile: it tells pkg-config where the
# HiGHS is that scripts/setup.sh has built.
# shellcheck shell=bash
export HIGHS_VERSION=1.16.0
export MILLWRIGHT_CACHE="${MILLWRIGHT_CACHE:-$HOME/.cache/millwright}"
export HIGHS_PREFIX="$MILLWRIGHT_CACHE/highs-$HIGHS_VERSION"
case ":${PKG_CONFIG_PATH:-}:" in
*":$HIGHS_PREFIX/lib/pkgconfig:"*) ;;
*) export PKG_CONFIG_PATH="$HIGHS_PREFIX/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}" ;;
esac
case ":$PATH:" in
*":$HOME/.cargo/bin:"*) ;;
*) export PATH="$PATH:$HOME/.cargo/bin" ;;
esac
