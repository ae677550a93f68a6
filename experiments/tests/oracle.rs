//! The outside judge itself: does Mesa start, draw exact floats, and refuse what is wrong?

use eggshade::render::View;
use eggshade::render::mesh::Mesh;
use eggshade_lab::oracle::{Corner, Driver, Job, OracleError, open_or_skip};

#[test]
fn mesa_draws_exact_floats_and_refuses_errors() {
    let Some(mesa) = open_or_skip(Driver::Softpipe) else { return };
    let view = View { mesh: Mesh::Quad, width: 4, height: 4, turn: [0.0; 2] };
    let (mesh, state) = (Mesh::Quad.triangles(), view.state());
    let mesh: Vec<Corner> = mesh.iter().map(Corner::from).collect();
    let vertex = "void main() { gl_Position = ftransform(); }";
    let fragment = "uniform float k; void main() { gl_FragColor = vec4(k, -1.5, gl_FragCoord.x, 3.5); }";
    let job = Job {
        mesh: &mesh,
        state: &state,
        attributes: &[],
        uniforms: &[("k".into(), vec![0.25])],
        textures: &[],
        size: [4, 4],
        clear: [0.0; 4],
    };
    let other = Job { uniforms: &[("k".into(), vec![0.5])], ..job.clone() };
    let pictures = mesa.draw([&[vertex], &[fragment]], &[job.clone(), other]).unwrap();
    assert_eq!(pictures[0][6], [0.25, -1.5, 2.5, 3.5]);
    assert_eq!(pictures[1][6], [0.5, -1.5, 2.5, 3.5]);
    let wrong = "void main() { gl_FragColor = 1; }";
    assert!(matches!(mesa.draw([&[vertex], &[wrong]], &[job]), Err(OracleError::Refused(_))));
}
