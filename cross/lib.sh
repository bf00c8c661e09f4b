# What build, emulate, test and deploy share. Sourced, never run.
# shellcheck shell=bash

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Trees of other architectures outlive a checkout and `cargo clean`.
cache=${COULOIR_CROSS:-${XDG_CACHE_HOME:-$HOME/.cache}/couloir/cross}
suite=bookworm

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$1"; exit "${2:-1}"; }
# Bad use: exit code 2, as couloir itself does.
bad() { say "$1; see ${0##*/} --help"; exit 2; }

# The comment at the top of the script that runs, as its help.
help() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

# Facts of an architecture: triple (Rust), gnu (C compilers), debian, qemu, cpu (the oldest one
# that the binary serves, which is what the emulator shows), flags (C).
architecture() {
    case $1 in
        aarch64)
            triple=aarch64-unknown-linux-gnu gnu=aarch64-linux-gnu debian=arm64
            qemu=aarch64 cpu=cortex-a53 rust_cpu=generic flags=() machine=AArch64 ;;
        armv7)
            triple=armv7-unknown-linux-gnueabihf gnu=arm-linux-gnueabihf debian=armhf
            qemu=arm cpu=cortex-a15 rust_cpu=cortex-a15 machine=ARM
            flags=(-march=armv7-a -mfpu=vfpv3-d16 -mfloat-abi=hard) ;;
        *) bad "'$1' is no architecture; there are aarch64 and armv7" ;;
    esac
    arch=$1
}

# install COMMAND=PACKAGE ...: installs the packages whose command (or file) is missing.
install() {
    local pair missing=() as_root=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null 2>&1 || [ -e "${pair%%=*}" ] ||
            [ -x "/usr/sbin/${pair%%=*}" ] || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        die "please install what Debian calls: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; } ||
            die "as root, please run: apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing: ${missing[*]}"
    local log
    log=$(mktemp)
    "${as_root[@]}" apt-get update </dev/null >"$log" 2>&1 ||
        say "apt-get update failed; trying with the lists that are there"
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
        -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}" \
        </dev/null >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: ${missing[*]}"
    fi
    rm -f "$log"
}

# The machine's own Debian mirror, so that what works for apt works here, too.
mirror() {
    local found=''
    if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
        found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list \
            /etc/apt/sources.list 2>/dev/null | awk '
            $1 == "URIs:" { print $2 }
            $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; break } }' |
            grep -E '/debian/?$' | head -n 1) || true
    fi
    echo "${COULOIR_MIRROR:-${found:-http://deb.debian.org/debian}}"
}

# tree KIND: a Debian tree of $debian in $cache, made once; sets $tree.
# KIND is sysroot-none, -openmpi or -mpich (to link against) or board (to run in).
tree() {
    local packages keys=() line
    tree=$cache/$1-$debian-$suite
    # Its stamp is written last.
    [ -e "$tree.done" ] && return 0
    case $1 in
        sysroot-none) packages=libc6-dev,libgcc-12-dev ;;
        sysroot-openmpi) packages=libc6-dev,libgcc-12-dev,libopenmpi-dev ;;
        sysroot-mpich) packages=libc6-dev,libgcc-12-dev,libmpich-dev ;;
        board) packages=base-files,bash,dash,coreutils,libc-bin,libc6,ocl-icd-libopencl1
            packages+=,pocl-opencl-icd,openmpi-bin,mpich ;;
    esac
    install mmdebstrap=mmdebstrap flock=util-linux \
        /usr/share/keyrings/debian-archive-keyring.gpg=debian-archive-keyring
    mkdir -p "$cache"
    exec 8>"$tree.lock"
    flock 8
    if [ ! -e "$tree.done" ]; then
        say "making $tree (a minute or so)"
        rm -rf "$tree"
        # A proxy, or a mirror whose lists are old on purpose, is apt's to know.
        while read -r line; do
            keys+=("--aptopt=$line")
        done < <(apt-config dump 2>/dev/null |
            grep -E '^Acquire::(https?::Proxy|Check-(Valid-Until|Date)) ')
        mmdebstrap --quiet --variant=extract --architectures="$debian" \
            --aptopt='APT::Install-Recommends "false"' "${keys[@]}" \
            --include="$packages" "$suite" "$tree" "$(mirror)" ||
            die "no tree of $debian from $(mirror); name another mirror in COULOIR_MIRROR"
        # A linker outside reads absolute links as the host's own.
        find "$tree" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link to; do
            ln -sfn "$(realpath -sm --relative-to="$tree/$(dirname "$link")" "$tree$to")" \
                "$tree/$link"
        done
        touch "$tree.done"
    fi
    exec 8>&-
}
