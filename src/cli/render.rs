//! `render`: a built-in mesh through a vertex and a fragment shader into a PNG file.

use super::args::RenderArgs;
use super::{Outcome, Stop, build, output, textures};
use eggshade::Built;
use eggshade::backend::emit::vec4_bits;
use eggshade::backend::mach::Program;
use eggshade::render::mesh::Mesh;
use eggshade::render::{View, draw};
use eggshade::world::{Settings, World};

/// Runs the command.
pub fn run(args: &RenderArgs) -> Outcome {
    let view = view(args)?;
    let options = build::options(&args.build, None)?;
    let linked = build::link_files(&[&args.vertex, &args.fragment], &options, args.build.message_format)?;
    let [vertex, fragment] = linked.stages;
    let mut world = World { gl: view.state(), ..World::default() };
    let settings = Settings::parse(&args.set).map_err(Stop::usage)?;
    for built in [&vertex, &fragment] {
        settings.apply(&built.tac, &mut world.values).map_err(Stop::usage)?;
    }
    if let Some(name) = settings.unused() {
        return Err(Stop::usage(format!("--set {name}: the shaders have no such input or uniform")));
    }
    textures::load(&args.texture, &[&vertex.tac, &fragment.tac], &mut world)?;
    let cfg = options.target.eval();
    let frame =
        draw(&decoded(&vertex)?, &decoded(&fragment)?, cfg, &world, view).map_err(|e| Stop::input(e.to_string()))?;
    let png = encode(frame.width, frame.height, &frame.to_rgba8()).map_err(|e| Stop::input(e.to_string()))?;
    output::write(Some(&args.output), &png).map_err(Stop::input)
}

/// The program as it comes back from its binary: what is drawn is what is emitted.
fn decoded(built: &Built) -> Result<Program, Stop> {
    let bytes = vec4_bits::encode(&built.compiled.program).map_err(Stop::input)?;
    vec4_bits::decode(&bytes).map_err(Stop::input)
}

fn view(args: &RenderArgs) -> Result<View, Stop> {
    let mesh = Mesh::parse(&args.mesh)
        .ok_or_else(|| Stop::usage(format!("--mesh {}: sphere, cube, plane or quad", args.mesh)))?;
    let size: Option<Vec<u32>> = args.size.split('x').map(|n| n.parse().ok()).collect();
    let (width, height) = match size.as_deref() {
        Some(&[w, h]) if (1..=4096).contains(&w) && (1..=4096).contains(&h) => (w, h),
        _ => return Err(Stop::usage(format!("--size {}: WIDTHxHEIGHT, 1 to 4096 each", args.size))),
    };
    let turn: Option<Vec<f64>> = args.turn.split(',').map(|n| n.parse().ok().filter(|v: &f64| v.is_finite())).collect();
    let turn = match turn.as_deref() {
        Some(&[x, y]) => [x, y],
        _ => return Err(Stop::usage(format!("--turn {}: two angles in degrees", args.turn))),
    };
    Ok(View { mesh, width, height, turn })
}

fn encode(width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()?;
    Ok(bytes)
}
