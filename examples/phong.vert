#version 110
// Per-pixel Phong lighting, vertex half: eye-space position and normal for the fragment half.
varying vec3 eye;
varying vec3 normal;
varying vec2 uv;

void main()
{
    eye = vec3(gl_ModelViewMatrix * gl_Vertex);
    normal = gl_NormalMatrix * gl_Normal;
    uv = gl_MultiTexCoord0.xy;
    gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex;
}
