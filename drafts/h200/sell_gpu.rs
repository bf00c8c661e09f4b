// times variants of the device SpMV with several enqueues and one finish
use couloir::node::*;
use couloir::sparse::*;
use opencl3::{
    command_queue::*,
    context::Context,
    device::{CL_DEVICE_TYPE_ALL, Device as Cl},
    event::*,
    kernel::*,
    memory::*,
    platform::get_platforms,
    program::Program,
};
use std::ffi::c_void;
use std::time::Instant;
fn load(dir: &str, name: &str) -> Csr {
    if let Some(n) = name.strip_prefix("grid") {
        let n: usize = n.parse().unwrap();
        return Csr::from_rows(n * n * n, n * n * n, |i, row| {
            let at = [i % n, i / n % n, i / (n * n)];
            row.push((i as u32, 6.0 + (i % 7) as f64 * 0.1));
            for (ax, st) in [1, n, n * n].into_iter().enumerate() {
                if at[ax] > 0 {
                    row.push(((i - st) as u32, -1.0 - (i % 5) as f64 * 0.01))
                }
                if at[ax] + 1 < n {
                    row.push(((i + st) as u32, -1.0 - (i % 3) as f64 * 0.01))
                }
            }
        });
    }
    if name == "uneven" {
        let n = 1_000_000usize;
        return Csr::from_rows(n, n, |i, row| {
            let mut seed = (i as u64).wrapping_mul(0x9E3779B97F4A7C15) | 1;
            let mut next = || {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed
            };
            let reach = if i / 32 % 3 == 0 { 400_000 } else { 20_000 };
            for _ in 0..(i % 1000) * (i % 1000) % 23 {
                let j = (i + n - reach / 2 + next() as usize % reach) % n;
                row.push((j as u32, (next() % 1000) as f64 / 1000.0 - 0.5));
            }
        });
    }
    let b = std::fs::read(format!("{dir}/{name}.csr")).unwrap();
    let n = u64::from_le_bytes(b[0..8].try_into().unwrap()) as usize;
    let z = u64::from_le_bytes(b[8..16].try_into().unwrap()) as usize;
    let p = 16;
    let u = |at: usize, k: usize| -> Vec<u32> {
        b[at..at + 4 * k]
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    let rp: Vec<usize> = u(p, n + 1).into_iter().map(|x| x as usize).collect();
    let col = u(p + 4 * (n + 1), z);
    let at = p + 4 * (n + 1) + 4 * z;
    let val = b[at..at + 8 * z]
        .chunks(8)
        .map(|c| f64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    Csr {
        rows: n,
        cols: n,
        row_ptr: rp,
        col,
        val,
    }
}
struct Dev {
    c: Context,
    q: CommandQueue,
    id: opencl3::types::cl_device_id,
}
fn buf<T: Copy>(d: &Dev, v: &[T]) -> opencl3::types::cl_mem {
    let bytes = std::mem::size_of_val(v).max(8);
    unsafe {
        let m = create_buffer(d.c.get(), CL_MEM_READ_WRITE, bytes, std::ptr::null_mut()).unwrap();
        let e = enqueue_write_buffer(
            d.q.get(),
            m,
            1,
            0,
            std::mem::size_of_val(v),
            v.as_ptr() as *const c_void,
            0,
            std::ptr::null(),
        )
        .unwrap();
        let _ = release_event(e);
        m
    }
}
fn arg(k: &Kernel, i: u32, m: &opencl3::types::cl_mem) {
    unsafe { set_kernel_arg(k.get(), i, 8, m as *const _ as *const c_void).unwrap() }
}
fn time(d: &Dev, k: &Kernel, global: usize, local: usize, reps: usize) -> (f64, f64, f64) {
    let go = || unsafe {
        let e = enqueue_nd_range_kernel(
            d.q.get(),
            k.get(),
            1,
            std::ptr::null(),
            &global,
            &local,
            0,
            std::ptr::null(),
        )
        .unwrap();
        let _ = release_event(e);
    };
    for _ in 0..3 {
        go();
    }
    finish(d.q.get()).unwrap();
    let mut t = vec![];
    for _ in 0..9 {
        let s = Instant::now();
        for _ in 0..reps {
            go();
        }
        finish(d.q.get()).unwrap();
        t.push(s.elapsed().as_secs_f64() / reps as f64);
    }
    t.sort_by(f64::total_cmp);
    (t[4], t[0], t[8])
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (which, cl, dir) = (&args[0], &args[1], &args[2]);
    let mut id = None;
    for p in get_platforms().unwrap() {
        for i in p.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let n = Cl::new(i).name().unwrap_or_default();
            eprintln!("{n}");
            if n.to_lowercase().contains(which.as_str()) {
                id = Some(i);
            }
        }
    }
    let id = id.unwrap();
    let c = Context::from_device(&Cl::new(id)).unwrap();
    #[allow(deprecated)]
    let q = unsafe { CommandQueue::create(&c, id, 0) }.unwrap();
    let d = Dev { c, q, id };
    let soft = which.as_str() != "nvidia";
    // copy bandwidth
    {
        let n = if soft { 1 << 22 } else { 1 << 27 };
        let src = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n__kernel void copy(__global double *y,__global const double*x){size_t i=get_global_id(0);y[i]=x[i];} __kernel void copy2(__global double2 *y,__global const double2*x){size_t i=get_global_id(0);y[i]=x[i];}";
        let mut p = Program::create_from_source(&d.c, src).unwrap();
        p.build(&[d.id], "").unwrap();
        let v = vec![1.0f64; n];
        let (a, b) = (buf(&d, &v), buf(&d, &v));
        for (nm, w) in [("copy", 1), ("copy2", 2)] {
            let k = Kernel::create(&p, nm).unwrap();
            arg(&k, 0, &a);
            arg(&k, 1, &b);
            let (t, lo, hi) = time(&d, &k, n / w, 256, 10);
            let g = |t: f64| 16.0 * n as f64 / t / 1e9;
            println!(
                "{nm} {} MB: {:.0} GB/s ({:.0}..{:.0})",
                8 * n >> 20,
                g(t),
                g(hi),
                g(lo)
            );
        }
        for m in [1usize << 20, 1 << 22, 1 << 24] {
            let k = Kernel::create(&p, "copy").unwrap();
            arg(&k, 0, &a);
            arg(&k, 1, &b);
            if m <= n {
                let (t, _, _) = time(&d, &k, m, 256, 50);
                println!(
                    "copy of {}M doubles: {:.0} GB/s",
                    m >> 20,
                    16.0 * m as f64 / t / 1e9
                );
            }
        }
        unsafe {
            release_mem_object(a).unwrap();
            release_mem_object(b).unwrap();
        }
    }
    let node = Node::open(&Config {
        device: DeviceChoice::None,
        threads: Some(1),
        memory: None,
    })
    .unwrap();
    if args[3] == "stream" {
        return streams(&d, cl, soft);
    }
    let common = std::fs::read_to_string(format!("{cl}/common.cl")).unwrap();
    let spmv = std::fs::read_to_string(format!("{cl}/spmv.cl")).unwrap();
    let list = std::fs::read_to_string(format!("{cl}/variants")).unwrap();
    let variants: Vec<(String, String)> = list
        .lines()
        .filter(|l| !l.is_empty())
        .map(|l| {
            let (f, o) = l.split_once(' ').unwrap_or((l, ""));
            (f.to_string(), o.to_string())
        })
        .collect();
    for name in &args[3..] {
        let t0 = Instant::now();
        let a = load(dir, name);
        let nnz = a.entries() as f64;
        let n = a.rows;
        let rows = n.next_multiple_of(256);
        let x: Vec<f64> = (0..rows)
            .map(|i| ((i * 7919) % 1000) as f64 / 1000.0 - 0.5)
            .collect();
        let want = a.apply(&x[..n]);
        let xb = buf(&d, &x);
        let eff = 12.0 * nnz + 16.0 * n as f64;
        let reps = if soft { 2 } else { 30 };
        for fixed in [false, true] {
            if fixed && (!name.starts_with("grid") || std::env::var("NOFIXED").is_ok()) {
                continue;
            }
            let s = if fixed {
                Sell::<f64>::fixed(
                    &node,
                    &if name.starts_with("grid") {
                        let mut b = a.clone();
                        for i in 0..n {
                            for e in b.row_ptr[i]..b.row_ptr[i + 1] {
                                b.val[e] = if b.col[e] as usize == i { 6.0 } else { -1.0 };
                            }
                        }
                        b
                    } else {
                        a.clone()
                    },
                )
                .unwrap()
            } else {
                Sell::<f64>::from_csr(&node, &a).unwrap()
            };
            let words = s.index().share(0, 0).unwrap().host;
            let slices = buf(&d, s.slices().share(0, 0).unwrap().host);
            let index = buf(&d, words);
            let val = buf(&d, s.planes()[0].share(0, 0).unwrap().host);
            let y = vec![f64::NAN; rows];
            let yb = buf(&d, &y);
            let bytes = s.bytes() + 16.0 * n as f64;
            println!(
                "{name}{}: {n} rows {nnz} nnz, {:.1} B/row stored, set up in {:.1} s",
                if fixed { " fixed" } else { "" },
                bytes / n as f64,
                t0.elapsed().as_secs_f64()
            );
            for (v, options) in &variants {
                let m = std::fs::read_to_string(format!("{cl}/{v}")).unwrap();
                let src =
                    format!("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{common}{m}{spmv}");
                for opt in args_opts(soft) {
                    let (vector, item, group, extra) = opt;
                    let mut p = Program::create_from_source(&d.c, &src).unwrap();
                    let o = format!(
                        "-w -D REAL=double -D VECTOR={vector} -D ITEM={item} -D BLOCK=256 -D LANES=32 -D SLICE=32 {extra} {options}"
                    );
                    if let Err(e) = p.build(&[d.id], &o) {
                        println!("{v} {o}: {e} {}", p.get_build_log(d.id).unwrap_or_default());
                        continue;
                    }
                    if std::env::var("DUMP").is_ok() && !fixed && name == &args[3] && group == 64 {
                        for (b, bin) in p.get_binaries().unwrap().into_iter().enumerate() {
                            std::fs::write(
                                format!(
                                    "{}/{v}.{b}.{}.ptx",
                                    std::env::var("OUT").unwrap_or("/tmp".into()),
                                    options.replace([' ', '=', '(', ')', '?', ':', '*'], "_")
                                ),
                                bin,
                            )
                            .unwrap();
                        }
                    }
                    let k = Kernel::create(&p, "spmv_kernel").unwrap();
                    for (i, b) in [&yb, &xb, &slices, &index, &val].into_iter().enumerate() {
                        arg(&k, i as u32, b);
                    }
                    unsafe {
                        let e = enqueue_write_buffer(
                            d.q.get(),
                            yb,
                            1,
                            0,
                            8 * rows,
                            y.as_ptr() as *const c_void,
                            0,
                            std::ptr::null(),
                        )
                        .unwrap();
                        let _ = release_event(e);
                    }
                    let (t, lo, hi) = time(&d, &k, rows / item, group, reps);
                    let mut out = vec![0.0f64; rows];
                    unsafe {
                        let e = enqueue_read_buffer(
                            d.q.get(),
                            yb,
                            1,
                            0,
                            8 * rows,
                            out.as_mut_ptr() as *mut c_void,
                            0,
                            std::ptr::null(),
                        )
                        .unwrap();
                        let _ = release_event(e);
                    }
                    let err = if fixed {
                        0.0
                    } else {
                        out.iter().zip(&want).fold(0.0f64, |m, (a, b)| {
                            let e = (a - b).abs();
                            if e <= m { m } else { e }
                        })
                    };
                    let ok = if err < 1e-12 { "ok" } else { "WRONG" };
                    println!(
                        "  {v:14} g{group} {options:40} {:8.1} us  eff {:6.0} GB/s ({:.0}..{:.0})  moved {:6.0} GB/s {ok}",
                        t * 1e6,
                        eff / t / 1e9,
                        eff / hi / 1e9,
                        eff / lo / 1e9,
                        bytes / t / 1e9
                    );
                }
            }
            unsafe {
                for m in [slices, index, val, yb] {
                    release_mem_object(m).unwrap();
                }
            }
        }
        unsafe {
            release_mem_object(xb).unwrap();
        }
    }
}
/// Lines of cl/streams: file kernel rows-per-item group bytes-per-row arguments options
fn streams(d: &Dev, cl: &str, soft: bool) {
    let common = std::fs::read_to_string(format!("{cl}/common.cl")).unwrap();
    let list = std::fs::read_to_string(format!("{cl}/streams")).unwrap();
    let most = if soft { 1usize << 20 } else { 1 << 27 };
    let ones = vec![1.0f64; most];
    let arrays: Vec<_> = (0..5).map(|_| buf(d, &ones)).collect();
    let sum = buf(d, &vec![0.0f64; most / 32]);
    let state = buf(d, &vec![0.0f64; 64]);
    for line in list.lines().filter(|l| !l.is_empty()) {
        let w: Vec<&str> = line.splitn(7, ' ').collect();
        let (item, group, bytes): (usize, usize, f64) = (
            w[2].parse().unwrap(),
            w[3].parse().unwrap(),
            w[4].parse().unwrap(),
        );
        let src = format!(
            "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{common}{}",
            std::fs::read_to_string(format!("{cl}/{}", w[0])).unwrap()
        );
        let mut p = Program::create_from_source(&d.c, &src).unwrap();
        let o = format!(
            "-w -D REAL=double -D BLOCK=256 -D LANES=32 -D SLICE=32 -D TOTAL_LANES=1024 -D PCG_STOP=0 -D PCG_ALPHA=1 -D PCG_BETA=2 {}",
            w.get(6).unwrap_or(&"")
        );
        if let Err(e) = p.build(&[d.id], &o) {
            println!("{line}: {e} {}", p.get_build_log(d.id).unwrap_or_default());
            continue;
        }
        let k = Kernel::create(&p, w[1]).unwrap();
        for (i, c) in w[5].chars().enumerate() {
            match c {
                's' => arg(&k, i as u32, &sum),
                't' => arg(&k, i as u32, &state),
                'k' => unsafe {
                    let half = 0.5f64;
                    set_kernel_arg(k.get(), i as u32, 8, &half as *const _ as *const c_void)
                        .unwrap()
                },
                _ => arg(&k, i as u32, &arrays[c as usize - 'v' as usize]),
            }
        }
        let mut out = format!("{line:70}");
        for n in [1usize << 20, 1 << 22, 1 << 24, 1 << 27] {
            if n <= most {
                let (t, lo, _) = time(d, &k, n / item, group, if n > 1 << 24 { 10 } else { 40 });
                out += &format!(
                    " {:6.0} ({:.0})",
                    bytes * n as f64 / t / 1e9,
                    bytes * n as f64 / lo / 1e9
                );
            }
        }
        println!("{out}");
    }
}
fn args_opts(soft: bool) -> Vec<(usize, usize, usize, &'static str)> {
    if std::env::var("V1").is_ok() {
        vec![(1, 1, 256, "")]
    } else if soft {
        vec![(8, 256, 1, ""), (4, 256, 1, "")]
    } else {
        if std::env::var("G").is_ok() {
            vec![(1, 1, 64, ""), (1, 1, 128, ""), (1, 1, 256, "")]
        } else {
            vec![(1, 1, 64, "")]
        }
    }
}
