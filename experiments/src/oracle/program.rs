//! What draws: a GLSL program, or a pair of ARB programs.

use super::legacy::PROGRAM_TARGETS;
use super::{Mesa, OracleError, missing};
use glow::HasContext as _;

const PROGRAM_ERROR_POSITION: u32 = 0x864B;
const PROGRAM_ERROR_STRING: u32 = 0x8874;

/// A linked GLSL program, in use while it lives.
pub struct Glsl<'m> {
    mesa: &'m Mesa,
    program: glow::Program,
    /// Name, type and location's name of what is active.
    active: Vec<glow::ActiveUniform>,
}

impl Mesa {
    /// Compiles and links the texts of both stages; attributes get the locations given.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's log.
    pub fn link(&self, stages: [&[&str]; 2], attributes: &[(&str, u32)]) -> Result<Glsl<'_>, OracleError> {
        let gl = &self.gl;
        // SAFETY: the context is current on this thread (a `Mesa` is not `Send`); the program is
        // deleted by `Drop`.
        unsafe {
            let program = gl.create_program().map_err(missing)?;
            let mut linked = Glsl { mesa: self, program, active: Vec::new() };
            for (kind, texts) in [glow::VERTEX_SHADER, glow::FRAGMENT_SHADER].into_iter().zip(stages) {
                for text in texts {
                    let shader = gl.create_shader(kind).map_err(missing)?;
                    gl.shader_source(shader, text);
                    gl.compile_shader(shader);
                    let compiled = gl.get_shader_compile_status(shader);
                    let log = gl.get_shader_info_log(shader);
                    gl.attach_shader(program, shader);
                    gl.delete_shader(shader);
                    if !compiled {
                        return Err(OracleError::Refused(log));
                    }
                }
            }
            for (name, location) in attributes {
                gl.bind_attrib_location(program, *location, name);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                return Err(OracleError::Refused(gl.get_program_info_log(program)));
            }
            gl.use_program(Some(program));
            let count = gl.get_active_uniforms(program);
            linked.active = (0..count).filter_map(|n| gl.get_active_uniform(program, n)).collect();
            Ok(linked)
        }
    }

    /// Loads a vertex and a fragment program.
    ///
    /// # Errors
    /// [`OracleError::Refused`] with Mesa's message and the line that it is about.
    pub fn assemble(&self, texts: [&str; 2]) -> Result<ArbPrograms<'_>, OracleError> {
        let mut programs = ArbPrograms { mesa: self, names: Vec::new() };
        // SAFETY: as in `link`.
        unsafe {
            for (stage, (target, text)) in PROGRAM_TARGETS.into_iter().zip(texts).enumerate() {
                programs.names.push(self.legacy.load_program(stage, text));
                let position = self.gl.get_parameter_i32(PROGRAM_ERROR_POSITION);
                if position >= 0 {
                    let before = text.get(..position as usize).unwrap_or_default();
                    let line = before.lines().count().max(1);
                    let message = self.gl.get_parameter_string(PROGRAM_ERROR_STRING);
                    return Err(OracleError::Refused(format!("stage {stage}, line {line}: {message}")));
                }
                self.gl.enable(target);
            }
        }
        Ok(programs)
    }
}

/// `a[1].b[2]` as `a.b` and 1, 2.
fn split(name: &str) -> (String, Vec<usize>) {
    let mut path = String::new();
    let mut indices = Vec::new();
    for (i, part) in name.split('.').enumerate() {
        path.push_str(if i > 0 { "." } else { "" });
        let (field, index) = part.split_once('[').map_or((part, None), |(f, n)| (f, n.strip_suffix(']')));
        path.push_str(field);
        indices.extend(index.and_then(|n| n.parse::<usize>().ok()));
    }
    (path, indices)
}

/// Lanes and columns of a uniform's type; nothing of samplers.
fn shape(utype: u32) -> Option<(usize, usize)> {
    Some(match utype {
        glow::FLOAT | glow::INT | glow::BOOL => (1, 1),
        glow::FLOAT_VEC2 | glow::INT_VEC2 | glow::BOOL_VEC2 => (2, 1),
        glow::FLOAT_VEC3 | glow::INT_VEC3 | glow::BOOL_VEC3 => (3, 1),
        glow::FLOAT_VEC4 | glow::INT_VEC4 | glow::BOOL_VEC4 => (4, 1),
        glow::FLOAT_MAT2 => (2, 2),
        glow::FLOAT_MAT3 => (3, 3),
        glow::FLOAT_MAT4 => (4, 4),
        glow::FLOAT_MAT2x3 => (3, 2),
        glow::FLOAT_MAT2x4 => (4, 2),
        glow::FLOAT_MAT3x2 => (2, 3),
        glow::FLOAT_MAT3x4 => (4, 3),
        glow::FLOAT_MAT4x2 => (2, 4),
        glow::FLOAT_MAT4x3 => (3, 4),
        _ => return None,
    })
}

impl Glsl<'_> {
    /// Sets uniforms by their types in the program: the lanes of all elements one after the other,
    /// elements of an array of structures counted through. Names that the program does not have are
    /// left alone.
    pub fn set_uniforms(&self, uniforms: &[(String, Vec<f32>)]) {
        for active in &self.active {
            let Some((lanes, columns)) = shape(active.utype) else { continue };
            let (path, mut indices) = split(&active.name);
            let Some((_, values)) = uniforms.iter().find(|(name, _)| *name == path) else { continue };
            if active.name.ends_with(']') {
                indices.pop(); // of the array itself, always 0
            }
            let one = lanes * columns;
            let stride = match indices.as_slice() {
                [] => 0,
                // all elements of the outer array are there, so they share the values evenly
                [_, ..] => values.len() / self.outer(&path).max(1) / one * one,
            };
            let first = indices.first().map_or(0, |i| i * stride);
            let len = (active.size.max(1) as usize) * one;
            if let Some(values) = values.get(first..values.len().min(first + len)) {
                self.set(active, values);
            }
        }
    }

    /// How many structures an array has, as far as the program uses them.
    fn outer(&self, path: &str) -> usize {
        let of = self.active.iter().map(|a| split(&a.name)).filter(|(p, _)| p == path);
        of.filter_map(|(_, indices)| indices.first().map(|i| i + 1)).max().unwrap_or(1)
    }

    fn set(&self, active: &glow::ActiveUniform, values: &[f32]) {
        let gl = &self.mesa.gl;
        let whole: Vec<i32> = values.iter().map(|&v| v as i32).collect();
        // SAFETY: the program is in use; the values' number is a multiple of what the type takes.
        unsafe {
            let location = gl.get_uniform_location(self.program, &active.name);
            let at = location.as_ref();
            match active.utype {
                glow::FLOAT => gl.uniform_1_f32_slice(at, values),
                glow::FLOAT_VEC2 => gl.uniform_2_f32_slice(at, values),
                glow::FLOAT_VEC3 => gl.uniform_3_f32_slice(at, values),
                glow::FLOAT_VEC4 => gl.uniform_4_f32_slice(at, values),
                glow::FLOAT_MAT2 => gl.uniform_matrix_2_f32_slice(at, false, values),
                glow::FLOAT_MAT3 => gl.uniform_matrix_3_f32_slice(at, false, values),
                glow::FLOAT_MAT4 => gl.uniform_matrix_4_f32_slice(at, false, values),
                glow::FLOAT_MAT2x3 => gl.uniform_matrix_2x3_f32_slice(at, false, values),
                glow::FLOAT_MAT2x4 => gl.uniform_matrix_2x4_f32_slice(at, false, values),
                glow::FLOAT_MAT3x2 => gl.uniform_matrix_3x2_f32_slice(at, false, values),
                glow::FLOAT_MAT3x4 => gl.uniform_matrix_3x4_f32_slice(at, false, values),
                glow::FLOAT_MAT4x2 => gl.uniform_matrix_4x2_f32_slice(at, false, values),
                glow::FLOAT_MAT4x3 => gl.uniform_matrix_4x3_f32_slice(at, false, values),
                glow::INT | glow::BOOL => gl.uniform_1_i32_slice(at, &whole),
                glow::INT_VEC2 | glow::BOOL_VEC2 => gl.uniform_2_i32_slice(at, &whole),
                glow::INT_VEC3 | glow::BOOL_VEC3 => gl.uniform_3_i32_slice(at, &whole),
                glow::INT_VEC4 | glow::BOOL_VEC4 => gl.uniform_4_i32_slice(at, &whole),
                _ => {}
            }
        }
    }

    /// Puts samplers, by their names in GLSL (`s`, `s[1]`, `m.s`), on units.
    pub fn set_units<'n>(&self, units: impl IntoIterator<Item = (u32, &'n str)>) {
        for (unit, name) in units {
            // SAFETY: the program is in use.
            unsafe {
                let location = self.mesa.gl.get_uniform_location(self.program, name);
                self.mesa.gl.uniform_1_i32(location.as_ref(), unit as i32);
            }
        }
    }
}

impl Drop for Glsl<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is this value's own.
        unsafe {
            self.mesa.gl.use_program(None);
            self.mesa.gl.delete_program(self.program);
        }
    }
}

/// A vertex and a fragment program, enabled while they live.
pub struct ArbPrograms<'m> {
    mesa: &'m Mesa,
    names: Vec<u32>,
}

impl ArbPrograms<'_> {
    /// Sets `program.local` of a stage (0 vertex, 1 fragment).
    pub fn set_locals(&self, stage: usize, locals: &[(u32, [f32; 4])]) {
        // SAFETY: the context is current.
        unsafe { self.mesa.legacy.set_locals(stage, locals) };
    }
}

impl Drop for ArbPrograms<'_> {
    fn drop(&mut self) {
        // SAFETY: the names are this value's own.
        unsafe {
            PROGRAM_TARGETS.iter().for_each(|&target| self.mesa.gl.disable(target));
            self.mesa.legacy.delete_programs(&self.names);
            self.mesa.gl.get_error();
        }
    }
}
