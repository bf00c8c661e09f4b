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
    if let Some(n) = name.strip_prefix("pgrid") {
        let n: usize = n.parse().unwrap();
        return Csr::from_rows(n * n * n, n * n * n, |i, row| {
            let at = [i % n, i / n % n, i / (n * n)];
            row.push((i as u32, 6.0));
            for (ax, st) in [1, n, n * n].into_iter().enumerate() {
                let o = i - at[ax] * st;
                row.push(((o + (at[ax] + 1) % n * st) as u32, -1.0));
                row.push(((o + (at[ax] + n - 1) % n * st) as u32, -1.0));
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

fn build(d: &Dev, src: &str, o: &str) -> Option<Program> {
    let mut p = Program::create_from_source(&d.c, src).unwrap();
    if let Err(e) = p.build(&[d.id], o) {
        println!("{o}: {e} {}", p.get_build_log(d.id).unwrap_or_default());
        return None;
    }
    Some(p)
}
fn setreal(k: &Kernel, i: u32, v: f64) {
    unsafe { set_kernel_arg(k.get(), i, 8, &v as *const _ as *const c_void).unwrap() }
}
fn setu(k: &Kernel, i: u32, v: u32) {
    unsafe { set_kernel_arg(k.get(), i, 4, &v as *const _ as *const c_void).unwrap() }
}
fn launch(d: &Dev, k: &Kernel, g: usize, l: usize) {
    unsafe {
        let e = enqueue_nd_range_kernel(
            d.q.get(),
            k.get(),
            1,
            std::ptr::null(),
            &g,
            &l,
            0,
            std::ptr::null(),
        )
        .unwrap();
        let _ = release_event(e);
    }
}
fn down(d: &Dev, m: opencl3::types::cl_mem, n: usize) -> Vec<f64> {
    let mut out = vec![0.0f64; n];
    unsafe {
        let e = enqueue_read_buffer(
            d.q.get(),
            m,
            1,
            0,
            8 * n,
            out.as_mut_ptr() as *mut c_void,
            0,
            std::ptr::null(),
        )
        .unwrap();
        let _ = release_event(e);
    }
    out
}
// args: device cl-dir data-dir matrices...; lines of cl/pcg: name matrix.cl product.cl step.cl common.cl group-product options
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (which, cl, dir) = (&args[0], &args[1], &args[2]);
    let mut id = None;
    for p in get_platforms().unwrap() {
        for i in p.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let n = Cl::new(i).name().unwrap_or_default();
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
    let soft = which.as_str() != "nvidia" && std::env::var("HARD").is_err();
    let reps = if soft { 2 } else { 50 };
    let node = Node::open(&Config {
        device: DeviceChoice::None,
        threads: Some(1),
        memory: None,
        turn: Default::default(),
    })
    .unwrap();
    let read = |f: &str| std::fs::read_to_string(format!("{cl}/{f}")).unwrap();
    for name in &args[3..] {
        let fixed = name.contains("grid");
        let mut a = load(dir, name);
        let n = a.rows;
        if fixed {
            for i in 0..n {
                for e in a.row_ptr[i]..a.row_ptr[i + 1] {
                    a.val[e] = if a.col[e] as usize == i { 6.0 } else { -1.0 };
                }
            }
        }
        // beside the diagonal
        let beside = {
            let a2 = &a;
            Csr::from_rows(n, n, |i, row| {
                for e in a2.row_ptr[i]..a2.row_ptr[i + 1] {
                    if a2.col[e] as usize != i {
                        row.push((a2.col[e], a2.val[e] / 6.0));
                    }
                }
            })
        };
        let s = if fixed {
            Sell::<f64>::fixed(&node, &beside)
        } else {
            Sell::<f64>::from_csr(&node, &beside)
        }
        .unwrap();
        let rows = n.next_multiple_of(256);
        let x: Vec<f64> = (0..rows)
            .map(|i| {
                if i < n {
                    ((i * 7919) % 1000) as f64 / 1000.0 - 0.5
                } else {
                    0.0
                }
            })
            .collect();
        let mut want = beside.apply(&x[..n]);
        for i in 0..n {
            want[i] += x[i];
        }
        let sum: f64 = want.iter().zip(&x).map(|(a, b)| a * b).sum();
        let slices = buf(&d, s.slices().share(0, 0).unwrap().host);
        let index = buf(&d, s.index().share(0, 0).unwrap().host);
        let val = buf(&d, s.planes()[0].share(0, 0).unwrap().host);
        let (xb, yb, rb, sb) = (buf(&d, &x), buf(&d, &x), buf(&d, &x), buf(&d, &x));
        let blocks = rows / 256;
        let parts: Vec<_> = (0..3).map(|_| buf(&d, &vec![1.0f64; blocks])).collect();
        let state = buf(&d, &vec![0.0f64; 64]);
        let bytes = s.bytes() + 16.0 * n as f64;
        println!(
            "{name}: {n} rows, product {:.1} B/row, regular {}",
            bytes / n as f64,
            s.is_regular()
        );
        for line in read("pcg")
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let w: Vec<&str> = line.splitn(7, ' ').collect();
            let src = format!(
                "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{}{}#undef STREAMED\n#define STREAMED 0\n{}{}{}",
                read(w[4]),
                read(w[1]),
                read(w[2]),
                read(w[3]),
                read("pcg_scalars.cl")
            );
            let item = if soft { 256 } else { 1 };
            let o = format!(
                "-w -D REAL=double -D VECTOR={} -D ITEM={} -D BLOCK=256 -D LANES=32 -D SLICE=32 -D TOTAL_LANES=1024 -D PCG_ALPHA=0 -D PCG_BETA=1 -D PCG_STOP=2 -D PCG_NEXT=3 -D PCG_WEIGHT=4 -D PCG_BOUND=5 -D PCG_ITERATIONS=6 {}",
                if soft { 8 } else { 1 },
                item,
                w.get(6).unwrap_or(&"")
            );
            let Some(p) = build(&d, &src, &o) else {
                continue;
            };
            let k = Kernel::create(&p, "pcg_product_kernel").unwrap();
            for (i, b) in [&sb, &parts[1], &parts[2], &xb, &xb, &slices, &index, &val]
                .into_iter()
                .enumerate()
            {
                arg(&k, i as u32, b);
            }
            setreal(&k, 8, 1.0);
            arg(&k, 9, &state);
            let st = Kernel::create(&p, "pcg_step_kernel").unwrap();
            for (i, b) in [&yb, &rb, &xb, &parts[0], &sb, &state]
                .into_iter()
                .enumerate()
            {
                arg(&st, i as u32, b);
            }
            let sc = Kernel::create(&p, "pcg_scalars_kernel").unwrap();
            for (i, b) in [&state, &parts[0], &parts[1], &parts[2]]
                .into_iter()
                .enumerate()
            {
                arg(&sc, i as u32, b);
            }
            setu(&sc, 4, blocks as u32);
            let (gp, div) = w[5].split_once('/').unwrap_or((w[5], "1"));
            let (gp, div): (usize, usize) = (gp.parse().unwrap(), div.parse().unwrap());
            let gp = if soft { 1 } else { gp };
            let pi = if soft { rows / 256 } else { rows / div };
            let gs = if soft { 1 } else { 256 };
            let zero = vec![0.0f64; 64];
            let clear = || unsafe {
                let e = enqueue_write_buffer(
                    d.q.get(),
                    state,
                    1,
                    0,
                    512,
                    zero.as_ptr() as *const c_void,
                    0,
                    std::ptr::null(),
                )
                .unwrap();
                let _ = release_event(e);
            };
            clear();
            let (t, lo, hi) = time(&d, &k, pi, gp, reps);
            let out = down(&d, sb, n);
            let err = out.iter().zip(&want).fold(0.0f64, |m, (a, b)| {
                let e = (a - b).abs();
                if e <= m { m } else { e }
            });
            let ps: f64 = down(&d, parts[1], blocks).iter().sum();
            let ok = err < 1e-12 && (ps - sum).abs() < 1e-9 * sum.abs();
            let bits = down(&d, parts[1], blocks)
                .iter()
                .chain(&down(&d, parts[2], blocks))
                .fold(0u64, |h, v| (h ^ v.to_bits()).wrapping_mul(0x100000001b3));
            let t2 = time(&d, &st, rows / item, gs, reps).0;
            let t3 = time(
                &d,
                &sc,
                if soft { 1 } else { 1024 },
                if soft { 1 } else { 1024 },
                reps,
            )
            .0;
            clear();
            // sequence; the scalars are computed but a stop must not be: weight 1, bound -1
            let mut seq = vec![];
            for _ in 0..7 {
                let mut z = zero.clone();
                z[4] = 1.0;
                z[5] = -1.0;
                unsafe {
                    let e = enqueue_write_buffer(
                        d.q.get(),
                        state,
                        1,
                        0,
                        512,
                        z.as_ptr() as *const c_void,
                        0,
                        std::ptr::null(),
                    )
                    .unwrap();
                    let _ = release_event(e);
                }
                for b in [xb, rb, yb] {
                    unsafe {
                        let e = enqueue_write_buffer(
                            d.q.get(),
                            b,
                            1,
                            0,
                            8 * rows,
                            x.as_ptr() as *const c_void,
                            0,
                            std::ptr::null(),
                        )
                        .unwrap();
                        let _ = release_event(e);
                    }
                }
                let s0 = Instant::now();
                for _ in 0..reps {
                    launch(&d, &k, pi, gp);
                    launch(
                        &d,
                        &sc,
                        if soft { 1 } else { 1024 },
                        if soft { 1 } else { 1024 },
                    );
                    launch(&d, &st, rows / item, gs);
                }
                finish(d.q.get()).unwrap();
                seq.push(s0.elapsed().as_secs_f64() / reps as f64);
            }
            let stopped = down(&d, state, 8)[2];
            for b in [xb, rb, yb] {
                unsafe {
                    let e = enqueue_write_buffer(
                        d.q.get(),
                        b,
                        1,
                        0,
                        8 * rows,
                        x.as_ptr() as *const c_void,
                        0,
                        std::ptr::null(),
                    )
                    .unwrap();
                    let _ = release_event(e);
                }
            }
            seq.sort_by(f64::total_cmp);
            println!(
                "  {:24} product {:7.1} us ({:.1}..{:.1}) {:5.0} GB/s  step {:6.1} us {:5.0} GB/s  scalars {:5.1} us  iteration {:7.1} us, {:5.0} GB/s {} {bits:x} stop {stopped}",
                w[0],
                t * 1e6,
                lo * 1e6,
                hi * 1e6,
                bytes / t / 1e9,
                t2 * 1e6,
                56.0 * rows as f64 / t2 / 1e9,
                t3 * 1e6,
                seq[3] * 1e6,
                (bytes + 56.0 * rows as f64) / seq[3] / 1e9,
                if ok { "ok" } else { "WRONG" }
            );
        }
        unsafe {
            for m in [slices, index, val, xb, yb, rb, sb, state] {
                release_mem_object(m).unwrap();
            }
        }
    }
}
