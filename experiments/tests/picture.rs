//! The textured Phong pair of the examples: the picture that our machine code draws beside the one
//! that Mesa draws from the same sources.

use eggshade::backend::emit::vec4_bits::{decode, encode};
use eggshade::backend::sim::raster::Frame;
use eggshade::backend::sim::texture::Texture;
use eggshade::backend::{Pipeline, Target};
use eggshade::ir::types::TexDim;
use eggshade::render::mesh::Mesh;
use eggshade::render::{View, draw};
use eggshade::world::World;
use eggshade::{Built, Options};
use eggshade_lab::oracle::{Corner, Driver, Job, OracleTexture, open_or_skip};
use std::collections::BTreeMap;
use std::path::Path;

/// What both sides clear to.
const CLEAR: [f32; 4] = [0.1, 0.1, 0.15, 1.0];
const SIZE: u32 = 192;
const TEXTURE: u32 = 32;

fn example(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)).unwrap()
}

/// A checkerboard over a gradient: wrong coordinates show, and so does a wrong filter.
fn texels() -> Vec<[f32; 4]> {
    let texel = |x: u32, y: u32| {
        let (u, v) = (x as f32 / TEXTURE as f32, y as f32 / TEXTURE as f32);
        if (x / 8 + y / 8).is_multiple_of(2) {
            [0.4 + 0.6 * u, 0.3, 0.3 + 0.7 * v, 1.0]
        } else {
            [0.2, 1.0 - 0.5 * v, u, 1.0]
        }
    };
    (0..TEXTURE).flat_map(|y| (0..TEXTURE).map(move |x| texel(x, y))).collect()
}

fn ours(pipeline: &str, view: View) -> Frame {
    let options = Options::new(Target::builtin("vec4").unwrap(), Pipeline::builtin(pipeline).unwrap());
    let sources = [("phong.vert", example("phong.vert")), ("phong.frag", example("phong.frag"))];
    let built = eggshade::link(sources.each_ref().map(|(n, s)| (*n, s.as_str())), &options)
        .unwrap_or_else(|e| panic!("{pipeline}: {:?}", e.diagnostics));
    let decoded = built.stages.each_ref().map(|b: &Built| decode(&encode(&b.compiled.program).unwrap()).unwrap());
    let texture = Texture::new(TexDim::D2, [TEXTURE, TEXTURE, 1], vec![texels()]);
    let textures = BTreeMap::from([("base".to_owned(), texture)]);
    let world = World { gl: view.state(), textures, ..World::default() };
    draw(&decoded[0], &decoded[1], options.target.eval(), &world, view).unwrap()
}

fn write_png(name: &str, frame: &Frame) {
    let file = std::fs::File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, frame.width, frame.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(&frame.to_rgba8()).unwrap();
}

/// Whether a pixel's neighbourhood is all drawn or all background, in both pictures the same.
fn inside(covered: &[Vec<bool>; 2], x: u32, y: u32) -> bool {
    let near = |c: u32| c.saturating_sub(1)..=(c + 1).min(SIZE - 1);
    let at = |x: u32, y: u32| (y * SIZE + x) as usize;
    let here = covered[0][at(x, y)];
    near(y).all(|v| near(x).all(|u| covered.iter().all(|c| c[at(u, v)] == here)))
}

#[test]
#[allow(clippy::print_stderr)] // the figures are what the test is for
fn phong_looks_as_mesa_draws_it() {
    let Some(mesa) = open_or_skip(Driver::Softpipe) else { return };
    let texture = OracleTexture::flat("base", [TEXTURE; 2], texels());
    for mesh in [Mesh::Sphere, Mesh::Cube, Mesh::Plane] {
        let view = View { mesh, width: SIZE, height: SIZE, turn: [20.0, 30.0] };
        let triangles: Vec<Corner> = mesh.triangles().iter().map(Corner::from).collect();
        let (vertex, fragment) = (example("phong.vert"), example("phong.frag"));
        let job = Job {
            mesh: &triangles,
            state: &view.state(),
            attributes: &[],
            uniforms: &[],
            textures: std::slice::from_ref(&texture),
            size: [SIZE; 2],
            clear: CLEAR,
        };
        let theirs = Frame {
            color: mesa.draw([&[&vertex], &[&fragment]], &[job]).unwrap().remove(0),
            ..Frame::new(SIZE, SIZE, CLEAR)
        };
        for pipeline in ["paper", Pipeline::DEFAULT] {
            let frame = ours(pipeline, view);
            write_png(&format!("phong-{mesh:?}-{pipeline}.png").to_lowercase(), &frame);
            let background = |p: &[f32; 4]| p.iter().zip(CLEAR).all(|(a, b)| (a - b).abs() < 1e-6);
            let covered = [&frame, &theirs].map(|f| f.color.iter().map(|p| !background(p)).collect::<Vec<_>>());
            let drawn = covered.each_ref().map(|c| c.iter().filter(|&&b| b).count());
            let bytes = [frame.to_rgba8(), theirs.to_rgba8()];
            let (mut compared, mut edges, mut largest) = (0, 0, 0);
            for y in 0..SIZE {
                for x in 0..SIZE {
                    if !inside(&covered, x, y) {
                        edges += 1;
                        continue;
                    }
                    let at = ((SIZE - 1 - y) * SIZE + x) as usize * 4;
                    let of = |b: &[u8], i: usize| i32::from(b[at + i]);
                    largest = (0..4).map(|i| (of(&bytes[0], i) - of(&bytes[1], i)).abs()).fold(largest, i32::max);
                    compared += usize::from(covered[0][(y * SIZE + x) as usize]);
                }
            }
            eprintln!(
                "{mesh:?}, {pipeline}: largest difference {largest}/255 over {compared} drawn pixels, {edges} at edges left out"
            );
            assert!(drawn[0].abs_diff(drawn[1]) * 50 < drawn[1], "{mesh:?}: {drawn:?} pixels are drawn");
            assert!(compared > 4 * edges && compared > 3000, "{mesh:?}: {compared} compared, {edges} left out");
            assert!(largest <= 2, "{mesh:?}, {pipeline}: {largest}/255");
        }
    }
}

#[test]
fn the_picture_has_light_texture_and_background_without_mesa_too() {
    let view = View { mesh: Mesh::Sphere, width: SIZE, height: SIZE, turn: [0.0, 0.0] };
    let frame = ours(Pipeline::DEFAULT, view);
    let at = |x: u32, y: u32| frame.color[(y * SIZE + x) as usize];
    assert_eq!(at(0, 0), CLEAR);
    let brightness = |p: [f32; 4]| p[0] + p[1] + p[2];
    // The light stands up to the right in front.
    assert!(brightness(at(SIZE * 5 / 8, SIZE * 5 / 8)) > 2.0 * brightness(at(SIZE * 3 / 8, SIZE / 4)));
    assert_eq!(frame, ours(Pipeline::DEFAULT, view), "two runs give the same picture");
}
