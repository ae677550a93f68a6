//--- empty
//--- several errors in one run
float a = ; //~ error syntax-error
float b = 1.0;
void f() {
    a = (1.0; //~ error syntax-error
    if a > 1.0) b = 2.0; //~ error syntax-error
    for (;; { } //~ error syntax-error
    b = 2.0
} //~ error syntax-error
void g( { } //~ error syntax-error
float c;
int int; //~ error syntax-error
//--- missing brace
void main() {
    float a; //~ error syntax-error
//--- too many braces
void main() { } } //~ error syntax-error
float a;
//--- else after a broken statement
void main() {
    if (true) a b c; //~ error syntax-error
    else a = 1;
    do a = ; while (true); //~ error syntax-error
}
//--- else alone
void main() {
    else a = 1; //~ error syntax-error
}
//--- reserved words
float input; //~ error reserved-word
double d; //~ error reserved-word
void main() {
    float class = 1.0; //~ error reserved-word
    goto x; //~ error reserved-word
    a = sizeof(b); //~ error reserved-word
    half h; //~ error reserved-word
}
//--- words of later versions are names
float precision, lowp, invariant, centroid, mat2x3, flat, smooth, layout;
//--- words of 120
#version 120
float precision; //~ error reserved-word
//--- invariant and centroid in 120
#version 120
invariant varying vec4 a;
centroid varying vec4 b;
invariant centroid varying vec4 c;
invariant gl_Position, a;
varying invariant vec4 d; //~ error qualifier-order
centroid invariant varying vec4 e; //~ error qualifier-order
centroid uniform vec4 f; //~ error bad-qualifier
invariant vec4 g; //~ error bad-qualifier
centroid centroid varying vec4 h; //~ error doubled-qualifier
//--- qualifiers
const uniform float a; //~ error doubled-qualifier
in float b; //~ error bad-qualifier
void f(const in float a, const float b, in float c, out float d, inout float e);
void g(const out float a); //~ error bad-qualifier
void h(uniform float a); //~ error bad-qualifier
void i(in const float a); //~ error bad-qualifier
//--- precision in es es
precision mediump float;
precision highp int;
precision float; //~ error syntax-error
varying mediump vec2 a;
uniform lowp sampler2D b;
highp vec4 f(mediump float x, const in lowp vec2 y);
void main() { highp float a; precision lowp float; }
//--- es has fewer types es
uniform sampler3D a; //~ error reserved-word
uniform sampler2DRect b; //~ error reserved-word
//--- sampler3D in es by extension es
#extension GL_OES_texture_3D : enable
uniform sampler3D a;
//--- reserved operators
int a = 5 % 3; //~ error reserved-operator
int b = 1 & 2 | 3 ^ 4; //~ error reserved-operator, error reserved-operator, error reserved-operator
int c = ~1; //~ error reserved-operator
int d = 1 << 2 >> 3; //~ error reserved-operator, error reserved-operator
void main() {
    a %= 2; a <<= 1; a >>= 1; //~ error reserved-operator, error reserved-operator, error reserved-operator
    a &= 1; a |= 1; a ^= 1; //~ error reserved-operator, error reserved-operator, error reserved-operator
}
//--- arrays
float a[3], b[], c[2 + 1];
float d[2][3]; //~ error array-of-arrays
float[2] e; //~ error not-in-version
float f[2; //~ error syntax-error
//--- arrays in 120
#version 120
float[3] a = float[3](1.0, 2.0, 3.0);
float b[] = float[](1.0, 2.0);
struct S { float x; };
S c[2] = S[2](S(1.0), S(2.0));
void main() {
    int n = a.length();
    float[2](1.0, 2.0)[n];
    float[2] d;
    S[2] e;
    S[2](S(1.0), S(2.0))[0].x;
}
//--- array size after the type in es es
void main() { highp float[2] x; } //~ warning not-in-version
//--- methods need 120
void main() { a.length(); } //~ error not-in-version
//--- initializer in braces
float a[2] = { 1.0, 2.0 }; //~ error syntax-error
float b;
//--- structs
struct A { float x, y[2]; vec3 z; } a, b[2];
struct { int i; } c;
struct B { struct C { int i; } d; A e; };
C f;
struct D { }; //~ error empty-struct
struct E { float x = 1.0; }; //~ error syntax-error
struct F { uniform float x; }; //~ error bad-qualifier
struct G { float x } g; //~ error syntax-error
void h(struct H { int i; } x); //~ error struct-in-header
struct I { int i; } j() { } //~ error struct-in-header
//--- a struct's name can be hidden
struct S { float x; };
void f(float S) { S = 1.0; S * 2.0; }
void g() { float S = 1.0; S; { S; } }
void h() { S S; S.x; }
S i;
//--- builtin structs
void f(gl_LightSourceParameters a) { gl_FogParameters b; }
//--- functions
void a();
void b(void);
float c(float, in vec2, out float[2]); //~ error not-in-version
float d(float x[2], float y);
void e() { void f(); }
void g() { void h() { } } //~ error nested-function
float;
//--- lone semicolon
; //~ warning empty-declaration
//--- statements
void main() {
    ;;
    { }
    if (true) ; else ;
    if (true) { } else if (false) { } else { }
    for (int i = 0; i < 3; i++) { continue; }
    for (;;) break;
    for (i = 0, j = 1; bool b = i < j; ++i, --j) ;
    while (bool b = true) { }
    while (true) discard;
    do { } while (false);
    do return; while (false);
    return;
}
//--- conditions need a value
void main() {
    while (bool b) { } //~ error syntax-error
    while () { } //~ error syntax-error
    if () { } //~ error syntax-error
    for (;) { } //~ error syntax-error
    do { } while (true) //~v error syntax-error
    a = 1;
}
//--- jumps need a semicolon
void main() {
    return 1.0 //~v error syntax-error
    } void f() {
    discard //~v error syntax-error
}
//--- numbers
float a = 1. + .5 + 1.5e3 + 1e-3 + 0.0E+1;
int b = 0 + 017 + 0xFf + 4294967295;
int c = 4294967296; //~ warning number-too-large
int d = 08; //~ error bad-number
float e = 1.5f; //~ warning float-suffix
float f = 1f; //~ error bad-number
int g = 0x; //~ error bad-number
int h = 1u; //~ error bad-number
float i = 1.5lf; //~ error bad-number
float j = 1e; //~ error bad-number
float k = 1.2.3; //~ error bad-number
int l = 12abc; //~ error bad-number
//--- suffix in 120
#version 120
float a = 1.5f + 1e3F;
//--- expressions that are wrong
void main() {
    a = b + ; //~ error syntax-error
    a = * b; //~ error syntax-error
    a = b c; //~ error syntax-error
    a = f(1, ); //~ error syntax-error
    a = f(1 2); //~ error syntax-error
    a = b[1; //~ error syntax-error
    a = b ? c; //~ error syntax-error
    a = b.; //~ error syntax-error
    a = b.1; //~ error syntax-error
    a = (b; //~ error syntax-error
    a = vec2; //~ error syntax-error
}
//--- missing semicolons
float a
void main() { //~ error syntax-error
    b = 1.0
    if (true) c = 1.0 //~ error syntax-error
    else c = 2.0 //~ error syntax-error
} //~ error syntax-error
struct S { float x
    float y //~ error syntax-error
}; //~ error syntax-error
S s;
