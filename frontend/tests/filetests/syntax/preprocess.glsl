//--- define twice the same
#define A  1 + 2
#define A 1 + 2
#define F(x) (x)
#define F(x) (x)
//--- define twice otherwise
#define A 1
#define A 2 //~ error macro-redefined
#define B(x) x
#define B(y) y //~ error macro-redefined
#define C 1+2
#define C 1 +2 //~ error macro-redefined
#define D
#define D() //~ error macro-redefined
//--- define after undef
#define A 1
#undef A
#define A 2
#undef NEVER
//--- define without a name
#define //~ error bad-define
#define 1 //~ error bad-define
#define + //~ error bad-define
//--- define bad parameters
#define A( //~ error bad-define
#define B(x //~ error bad-define
#define C(x,) x //~ error bad-define
#define D(x y) x //~ error bad-define
#define E(1) x //~ error bad-define
#define F(x, x) x //~ error bad-define
#define G() 1
//--- define reserved names
#define GL_foo 1 //~ error reserved-macro-name
#define a__b 1 //~ warning reserved-macro-name
#define __LINE__ 1 //~ error reserved-macro-name
#define defined 1 //~ error reserved-macro-name
#undef __VERSION__ //~ error reserved-macro-name
#undef GL_ARB_draw_buffers //~ error reserved-macro-name
//--- token pasting
#define A(x, y) x ## y //~ error no-token-pasting
//--- a hash in a function-like macro
#define A(x) #x //~ error no-stringification
//--- a hash in another macro is wrong where it is used
#define A #
#define B #
int i = A 1; //~ error illegal-character
//--- undef without a name
#undef //~ error bad-directive
#undef A B //~ warning extra-tokens
//--- call with wrong arguments
#define F(x, y) x + y
#define G() 1
float a = F(1); //~ error macro-argument-count
float b = F(1, 2, 3); //~ error macro-argument-count
float c = G(1); //~ error macro-argument-count
//--- call without end
#define F(x) x
float a = F(1; //~ error unterminated-macro-call
//~^ error syntax-error
//--- call over lines
#define F(x, y) x + y
float a = F(
    1.0,
#define IN_BETWEEN
    2.0
);
//--- conditional unmatched
#endif //~ error unmatched-conditional
#else //~ error unmatched-conditional
#elif 1 //~ error unmatched-conditional
//--- conditional without end
#if 1 //~ error unterminated-conditional
#ifdef X //~ error unterminated-conditional
#else
#if 0 //~ error unterminated-conditional
//--- else twice
#if 0
#else
#else //~ error unmatched-conditional
#elif 1 //~ error unmatched-conditional
#endif
//--- extra tokens
#ifdef A B //~ warning extra-tokens
#else x //~ warning extra-tokens
#endif x //~ warning extra-tokens
//--- ifdef without name
#ifdef //~ error bad-directive
#endif
#ifndef 1 //~ error bad-directive
#endif
//--- condition missing
#if //~ error bad-condition
#endif
//--- conditions that are wrong
#if 1 +  //~ error bad-condition
#endif
#if (1   //~ error bad-condition
#endif
#if 1 2  //~ error bad-condition
#endif
#if 1.0  //~ error bad-condition
#endif
#if defined //~ error bad-condition
#endif
#if defined(A //~ error bad-condition
#endif
#if 1 / 0 //~ error bad-condition
#endif
#if 1 % (2 - 2) //~ error bad-condition
#endif
#if 1 << 64 //~ error bad-condition
#endif
#if 99999999999999999999 //~ error bad-condition
#endif
#if 08 //~ error bad-condition
#endif
#if 1 ? 2 : 3 //~ error bad-condition
#endif
#if 1 = 1 //~ error bad-condition
#endif
//--- conditions that short-circuit
#if 0 && 1 / 0
#error no
#endif
#if 1 || 1 % 0
#else
#error no
#endif
#if 0 && (1 || 1 / 0) && UNKNOWN
#error no
#endif
#if defined A && A > 1
#error no
#endif
//--- undefined name counts as zero
#if UNKNOWN //~ warning undefined-macro
#error no
#endif
//--- undefined name in es es
#if UNKNOWN //~ error bad-condition
#endif
#if 0 && UNKNOWN
#endif
//--- elif after a taken group is not read
#if 1
#elif 1 / 0
#elif (
#endif
//--- skipped groups are hardly read
#if 0
don't mind @ or "this
#nonsense
#define A(
#error no
#if 1 / 0
#elif also not
#endif
#endif
//--- error directive
#error it's wrong //~ error error-directive
//--- unknown directive
#nonsense //~ error unknown-directive
#include "a" //~ error unknown-directive
#
# /* nothing */
//--- pragma
#pragma optimize(on)
#pragma debug(off)
#pragma STDGL invariant(all)
#pragma somebody's own
#pragma optimize(maybe) //~ warning bad-pragma
#pragma debug //~ warning bad-pragma
#pragma
//--- extension
#extension GL_ARB_texture_rectangle : enable
#extension GL_ARB_draw_buffers:require
#extension all : warn
#extension all : disable
#extension GL_unknown : enable //~ warning unknown-extension
#extension GL_unknown : require //~ error unknown-extension
#extension GL_OES_standard_derivatives : enable //~ warning unknown-extension
#extension all : require //~ error bad-extension
#extension GL_ARB_draw_buffers //~ error bad-extension
#extension GL_ARB_draw_buffers enable //~ error bad-extension
#extension GL_ARB_draw_buffers : maybe //~ error bad-extension
//--- extension after a declaration
int a;
#extension GL_ARB_draw_buffers : enable //~ warning late-extension
//--- version after something
int a;
#version 110 //~ error late-version
//--- version after a directive
#define A
#version 110 //~ error late-version
//--- version twice
#version 110
#version 110 //~ error late-version
//--- version after a comment
/* first
   this */ // and this

#version 120
//--- version without number
#version //~ error bad-version
//--- version unknown
#version 330 core //~ error unsupported-version
this is not looked at
//--- version with more
#version 110 core //~ error bad-version
//--- version es
#version 100
#ifndef GL_ES
#error no
#endif
#if __VERSION__ != 100 || GL_OES_standard_derivatives != 1
#error no
#endif
//--- version desktop
#ifdef GL_ES
#error no
#endif
#if __VERSION__ != 110 || !defined GL_ARB_texture_rectangle
#error no
#endif
//--- line
#line 10
#if __LINE__ != 11
#error no
#endif
#define TEN 10
#line TEN 3
#if __LINE__ != 11 || __FILE__ != 3
#error no
#endif
#line //~ error bad-line
#line x //~ error bad-line
#line 1 2 3 //~ error bad-line
#line 99999999999 //~ error bad-line
//--- illegal characters
int a@; //~ error illegal-character
int b\c; //~ error illegal-character, error syntax-error
int é; //~ error illegal-character
float "d"; //~ error illegal-character
//--- a hash in the line
int a; #define B //~ error illegal-character, error syntax-error
//--- unterminated comment
//~v error unterminated-comment
int a; /* from here on
int b
//--- comments are blanks
int/**/a; /* // */ int b; // /* int
int c/*
*/;
#define A /* a
comment */ 1
#if A != 1
#error no
#endif
//--- lines can be joined
#define A 1 + \
    2
#if A != 3
#error no
#endif
int a\
b; // this goes on \
@
int abcd = ab;
//--- macro that names itself
#define A A + 1
#define F(x) F(x + 1)
#define P Q
#define Q P
float a = A, b = F(F(2.0)), c = P;
//--- defined from a macro
#define HAS_A defined A
#define HAS_B defined(B)
#define B
#if HAS_A || !HAS_B
#error no
#endif
