//! Names that extensions add which this compiler does not support, so that an error about such a name
//! can say where it comes from.

/// Starts of names, with the extension that has them.
const NAMES: &[(&str, &str)] = &[
    ("sampler1DArray", "GL_EXT_texture_array"),
    ("sampler2DArray", "GL_EXT_texture_array"),
    ("texture1DArray", "GL_EXT_texture_array"),
    ("texture2DArray", "GL_EXT_texture_array"),
    ("shadow1DArray", "GL_EXT_texture_array"),
    ("shadow2DArray", "GL_EXT_texture_array"),
    ("isampler", "GL_EXT_gpu_shader4"),
    ("usampler", "GL_EXT_gpu_shader4"),
    ("uvec", "GL_EXT_gpu_shader4"),
    ("samplerBuffer", "GL_EXT_gpu_shader4"),
    ("samplerCubeShadow", "GL_EXT_gpu_shader4"),
    ("texelFetch", "GL_EXT_gpu_shader4"),
    ("textureSize", "GL_EXT_gpu_shader4"),
    ("gl_VertexID", "GL_EXT_gpu_shader4"),
    ("gl_PrimitiveID", "GL_EXT_gpu_shader4"),
    ("gl_InstanceID", "GL_ARB_draw_instanced"),
    ("gl_FragDepthEXT", "GL_EXT_frag_depth"),
    ("sampler2DMS", "GL_ARB_texture_multisample"),
    ("samplerExternalOES", "GL_OES_EGL_image_external"),
    ("gl_FragStencilRefARB", "GL_ARB_shader_stencil_export"),
    ("gl_LastFragData", "GL_EXT_shader_framebuffer_fetch"),
];

/// What has the name, when the language itself does not.
pub fn belongs_to(name: &str) -> Option<&'static str> {
    if name.starts_with("texture") && (name.ends_with("GradARB") || name.ends_with("GradEXT")) {
        return Some("the gradient functions of GL_ARB_shader_texture_lod");
    }
    NAMES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, extension)| *extension)
}
