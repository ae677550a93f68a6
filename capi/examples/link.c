/* Links a vertex and a fragment shader and prints what a driver needs: code, active variables, and the
 * literals to load. Usage: link FILE.vert FILE.frag [TARGET] */
#include "eggshade.h"
#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = NULL;
    size_t used = 0, room = 0, got;
    do {
        if (room - used < 4096) {
            char *more = realloc(bytes, room += 65536);
            if (!more) {
                free(bytes);
                fclose(file);
                return NULL;
            }
            bytes = more;
        }
        got = fread(bytes + used, 1, room - used, file);
        used += got;
    } while (got > 0);
    fclose(file);
    *length = used;
    return bytes;
}

static void print_variables(const struct EggshadeProgram *program)
{
    static const char *const kinds[] = { "attribute", "uniform", "sampler", "output" };
    for (size_t v = 0; v < eggshade_variable_count(program); v++) {
        struct EggshadeVariable variable;
        eggshade_variable(program, v, &variable);
        printf("%s %s %s:", kinds[variable.kind], variable.type_name, variable.name);
        for (size_t r = 0; r < variable.registers; r++) {
            struct EggshadeRegister reg;
            eggshade_variable_register(program, v, r, &reg);
            printf(" %s.%s", reg.stage == EGGSHADE_STAGE_VERTEX ? "vertex" : "fragment", reg.binding);
        }
        printf("\n");
    }
}

static void print_stage(const struct EggshadeProgram *program, enum EggshadeStage stage)
{
    struct EggshadeCounts counts;
    if (eggshade_counts(program, stage, &counts) != EGGSHADE_STATUS_OK)
        return;
    printf("%u instructions, %u temporaries\n", counts.instructions, counts.temporaries);
    for (size_t l = 0; l < eggshade_literal_count(program, stage); l++) {
        struct EggshadeRegister reg;
        eggshade_literal(program, stage, l, &reg);
        printf("%s =", reg.name);
        for (unsigned lane = 0; lane < reg.lanes; lane++)
            printf(" %g", reg.values[lane]);
        printf("\n");
    }
    printf("%s", eggshade_code(program, stage, EGGSHADE_FORM_ASSEMBLY, NULL));
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s FILE.vert FILE.frag [TARGET]\n", argv[0]);
        return 2;
    }
    struct EggshadeText texts[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = read_file(argv[1 + i], &texts[i].length);
        if (!bytes[i]) {
            fprintf(stderr, "cannot read %s\n", argv[1 + i]);
            return 1;
        }
        texts[i].name = argv[1 + i];
        texts[i].bytes = bytes[i];
    }
    struct EggshadeContext *context = eggshade_context_new();
    struct EggshadeProgram *program = NULL;
    enum EggshadeStatus status = EGGSHADE_STATUS_OK;
    if (argc > 3)
        status = eggshade_set_target(context, argv[3]);
    if (status == EGGSHADE_STATUS_OK)
        status = eggshade_link(context, &texts[0], 1, &texts[1], 1, &program);
    fputs(eggshade_log(context), stderr);
    if (status == EGGSHADE_STATUS_OK) {
        print_variables(program);
        print_stage(program, EGGSHADE_STAGE_VERTEX);
        print_stage(program, EGGSHADE_STAGE_FRAGMENT);
    }
    eggshade_program_free(program);
    eggshade_context_free(context);
    free(bytes[0]);
    free(bytes[1]);
    return status == EGGSHADE_STATUS_OK ? 0 : 1;
}
