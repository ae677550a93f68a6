/* Misuse, errors and threads: every call with null and out-of-range arguments, programs that outlive
 * their context, and a context in each of four threads. Run under a sanitizer, it shows that memory
 * comes back wholly. Ends with "ok". */
#include "eggshade.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char VERT[] = "attribute vec4 p; uniform mat4 m; varying vec4 c; uniform float k[3];\n"
                           "void main() { gl_Position = m * p; c = p * k[1] + 0.5; }\n";
static const char FRAG[] = "varying vec4 c; uniform sampler2D t; void main() { gl_FragColor = texture2D(t, c.xy) * c; }\n";
static const char WRONG[] = "void main() {\n  gl_Position = nothing;\n}\n";
static const char TAC[] = "stage vert\nversion 110\nentry main\nattribute vec4 a\noutput vec4 gl_Position\n"
                          "func main() {\n  MOV gl_Position.xyzw, a.xyzw\n}\n";

static struct EggshadeText text(const char *name, const char *bytes)
{
    struct EggshadeText out = { name, bytes, strlen(bytes) };
    return out;
}

static void misuse(void)
{
    struct EggshadeProgram *program = (struct EggshadeProgram *)1;
    struct EggshadeText one = text(NULL, VERT);
    struct EggshadeContext *context = eggshade_context_new();
    CHECK(context);
    eggshade_context_free(NULL);
    eggshade_program_free(NULL);
    CHECK(eggshade_log(NULL) == NULL);
    CHECK(eggshade_compile(NULL, 0, &one, 1, &program) == EGGSHADE_STATUS_BAD_ARGUMENT && !program);
    CHECK(eggshade_compile(context, 0, NULL, 1, &program) == EGGSHADE_STATUS_BAD_ARGUMENT && !program);
    CHECK(eggshade_compile(context, 7, &one, 1, &program) == EGGSHADE_STATUS_BAD_ARGUMENT && !program);
    CHECK(eggshade_compile(context, 0, &one, 1, NULL) == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_target(context, NULL) == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_target(context, "nothing") == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(strstr(eggshade_log(context), "vec4"));
    CHECK(eggshade_set_target_table(context, "name = 3") == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_pipeline(context, "nothing") == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_fp(context, "nothing") == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_version(context, 330) == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(eggshade_set_limit(context, "nothing", 3) == EGGSHADE_STATUS_BAD_ARGUMENT);
    CHECK(!eggshade_limit(100000, NULL) && eggshade_limit(0, NULL));
    CHECK(eggshade_variable_count(NULL) == 0 && eggshade_literal_count(NULL, 0) == 0);
    CHECK(eggshade_code(NULL, 0, 0, NULL) == NULL);
    CHECK(eggshade_counts(NULL, 0, NULL) == EGGSHADE_STATUS_BAD_ARGUMENT);
    eggshade_context_free(context);
}

static void errors(void)
{
    struct EggshadeContext *context = eggshade_context_new();
    struct EggshadeProgram *program;
    struct EggshadeText wrong = text("wrong.vert", WRONG);
    CHECK(eggshade_check(context, EGGSHADE_STAGE_VERTEX, &wrong) == EGGSHADE_STATUS_REJECTED);
    CHECK(eggshade_compile(context, EGGSHADE_STAGE_VERTEX, &wrong, 1, &program) == EGGSHADE_STATUS_REJECTED);
    CHECK(!program && strstr(eggshade_log(context), "wrong.vert:2"));
    struct EggshadeText other = text(NULL, "varying vec2 c; void main() { gl_FragColor = c.xyxy; }");
    struct EggshadeText vert = text(NULL, VERT);
    CHECK(eggshade_link(context, &vert, 1, &other, 1, &program) == EGGSHADE_STATUS_REJECTED && !program);
    CHECK(eggshade_set_limit(context, "tokens", 3) == EGGSHADE_STATUS_OK);
    CHECK(eggshade_compile(context, EGGSHADE_STAGE_VERTEX, &vert, 1, &program) == EGGSHADE_STATUS_REJECTED);
    eggshade_context_free(context);
}

/* The program is used after its context has gone. */
static void outlives(const char *target)
{
    struct EggshadeContext *context = eggshade_context_new();
    struct EggshadeProgram *program;
    struct EggshadeText vert = text("a.vert", VERT), frag = text("a.frag", FRAG), tac = text("a.tac", TAC);
    struct EggshadeVariable variable;
    struct EggshadeRegister reg;
    struct EggshadeCounts counts;
    size_t length, uniforms = 0;
    CHECK(eggshade_set_target(context, target) == EGGSHADE_STATUS_OK);
    CHECK(eggshade_define(context, "UNUSED", NULL) == EGGSHADE_STATUS_OK);
    CHECK(eggshade_bind_attribute(context, "p", 3) == EGGSHADE_STATUS_OK);
    CHECK(eggshade_compile(context, EGGSHADE_STAGE_VERTEX, &tac, 1, &program) == EGGSHADE_STATUS_OK);
    eggshade_program_free(program);
    CHECK(eggshade_link(context, &vert, 1, &frag, 1, &program) == EGGSHADE_STATUS_OK);
    eggshade_context_free(context);
    for (unsigned stage = 0; stage < 2; stage++) {
        for (unsigned form = 0; form < 3; form++) {
            const char *code = eggshade_code(program, stage, form, &length);
            CHECK(code && length > 10);
            CHECK(form == EGGSHADE_FORM_BINARY || strlen(code) == length);
        }
        CHECK(eggshade_code(program, stage, 9, &length) == NULL && length == 0);
        CHECK(eggshade_counts(program, stage, &counts) == EGGSHADE_STATUS_OK && counts.instructions > 1);
        for (size_t l = 0; l < eggshade_literal_count(program, stage); l++)
            CHECK(eggshade_literal(program, stage, l, &reg) == EGGSHADE_STATUS_OK && reg.lanes > 0);
    }
    for (size_t v = 0; v < eggshade_variable_count(program); v++) {
        CHECK(eggshade_variable(program, v, &variable) == EGGSHADE_STATUS_OK && variable.registers > 0);
        uniforms += variable.kind == EGGSHADE_KIND_UNIFORM;
        for (size_t r = 0; r < variable.registers; r++)
            CHECK(eggshade_variable_register(program, v, r, &reg) == EGGSHADE_STATUS_OK && strlen(reg.binding) > 1);
        CHECK(eggshade_variable_register(program, v, 99, &reg) == EGGSHADE_STATUS_BAD_ARGUMENT);
    }
    CHECK(uniforms == 2);
    CHECK(eggshade_variable(program, 99, &variable) == EGGSHADE_STATUS_BAD_ARGUMENT);
    eggshade_program_free(program);
}

static void *run(void *target)
{
    for (int turn = 0; turn < 5; turn++) {
        outlives(target);
        errors();
    }
    return NULL;
}

int main(void)
{
    const char *targets[4] = { "vec4", "arbvp1", "vec4", "arbvp1" };
    pthread_t threads[4];
    misuse();
    for (int t = 0; t < 4; t++)
        CHECK(pthread_create(&threads[t], NULL, run, (void *)targets[t]) == 0);
    for (int t = 0; t < 4; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    puts("ok");
    return 0;
}
