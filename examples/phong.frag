#version 110
// Per-pixel Phong lighting, fragment half: one point light, a texture, a highlight.
uniform sampler2D base;
varying vec3 eye;
varying vec3 normal;
varying vec2 uv;

void main()
{
    vec3 n = normalize(normal);
    vec3 l = normalize(gl_LightSource[0].position.xyz - eye);
    vec3 v = normalize(-eye);
    vec3 r = reflect(-l, n);
    float diffuse = max(dot(n, l), 0.0);
    float specular = diffuse > 0.0 ? pow(max(dot(r, v), 0.0), gl_FrontMaterial.shininess) : 0.0;
    vec4 color = texture2D(base, uv) * (gl_FrontLightModelProduct.sceneColor + gl_FrontLightProduct[0].diffuse * diffuse);
    gl_FragColor = color + gl_FrontLightProduct[0].specular * specular;
}
