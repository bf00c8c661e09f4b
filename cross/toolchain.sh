# Compiler, linker and libraries for $triple, handed to Cargo through the environment.
# Sourced by build and test, after lib.sh; wants target_dir, mpi, glibc, rust_cpu, root.
# shellcheck shell=bash

command -v cargo >/dev/null 2>&1 || die "Rust is missing; install it as https://rustup.rs says"
host_lib=$(rustc --print sysroot)/lib/rustlib
if [ ! -d "$host_lib/$triple/lib" ]; then
    command -v rustup >/dev/null 2>&1 ||
        die "Rust's library for $triple is missing, and there is no rustup to fetch it"
    say "fetching Rust's library for $triple"
    (cd "$repo" && rustup --quiet target add "$triple") >&2 || die "rustup could not fetch $triple"
fi

tools=$target_dir/tools
mkdir -p "$tools"
# Written anew only when changed: Cargo looks at the time.
put() {
    cat >"$tools/.new"
    chmod +x "$tools/.new"
    cmp -s "$tools/.new" "$tools/$1" || mv "$tools/.new" "$tools/$1"
    rm -f "$tools/.new"
}

install readelf=binutils
sysroot=$root
if [ -z "$sysroot" ] && { [ -z "$glibc" ] || [ "$mpi" != none ]; }; then
    tree "sysroot-$mpi"
    sysroot=$tree
fi

if [ -n "$glibc" ]; then
    zig=$cache/zig
    if ! "$zig/bin/python" -m ziglang version >/dev/null 2>&1; then
        install python3=python3
        say "fetching zig (100 MB)"
        python3 -m venv "$zig" 2>/dev/null || { install python3-venv=python3-venv; python3 -m venv "$zig"; }
        "$zig/bin/pip" install --quiet 'ziglang==0.15.*' >&2 || die "pip could not fetch ziglang"
    fi
    # Its unwinder stands in for libgcc_s; what else Rust's driver says it does itself.
    put cc <<END
#!/usr/bin/env bash
args=()
for a in "\$@"; do
    case \$a in
        -lgcc_s | -lgcc_eh) args+=(-lunwind) ;;
        -lgcc | --target=* | -Wl,--no-undefined-version | -march=* | -mfpu=* | -mfloat-abi=*) ;;
        *) args+=("\$a") ;;
    esac
done
exec "$zig/bin/python" -m ziglang cc -target $gnu.$glibc "\${args[@]}"
END
else
    install clang=clang
    # Rust's own lld.
    lld=$host_lib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
    [ -x "$lld/ld.lld" ] || { install ld.lld=lld; lld=$(dirname "$(command -v ld.lld)"); }
    put cc <<END
#!/bin/sh
exec clang --target=$gnu ${flags[*]} --sysroot='$sysroot' -B'$lld' -fuse-ld=lld \\
    -Wno-unused-command-line-argument "\$@"
END
fi

if [ "$mpi" != none ]; then
    install llvm-ar=llvm /usr/lib/llvm-14/lib/libclang.so.1=libclang-dev
    case $mpi in
        openmpi)
            lib=$sysroot/usr/lib/$gnu/openmpi
            mpi_flags="-I$lib/include -I$lib/include/openmpi -L$lib/lib -lmpi" ;;
        mpich)
            mpi_flags="-I$sysroot/usr/include/$gnu/mpich -L$sysroot/usr/lib/$gnu -lmpich" ;;
    esac
    put mpicc <<END
#!/bin/sh
[ "\$1" = -show ] && { echo "cc $mpi_flags"; exit; }
exec '$tools/cc' ${mpi_flags%% -L*} "\$@"
END
    export MPICC=$tools/mpicc
    export "BINDGEN_EXTRA_CLANG_ARGS_${triple//-/_}=--target=$gnu ${flags[*]} --sysroot=$sysroot"
fi

upper=$(tr 'a-z-' 'A-Z_' <<<"$triple")
export "CARGO_TARGET_${upper}_LINKER=$tools/cc"
export "CC_${triple//-/_}=$tools/cc" "AR_${triple//-/_}=llvm-ar"
export "CARGO_TARGET_${upper}_RUSTFLAGS=-C target-cpu=$rust_cpu"
# Tells the binary what to look for when it starts: see src/main.rs.
if [ "$arch" = armv7 ] && [ "$rust_cpu" = cortex-a15 ]; then
    export COULOIR_VFPV4=1
else
    unset COULOIR_VFPV4
fi
# These are the host's, and would win over the line above.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET
