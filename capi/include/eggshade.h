/* The C interface of eggshade. Made by `UPDATE_EXPECT=1 cargo test -p capi`; do not edit. */

#ifndef EGGSHADE_H
#define EGGSHADE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * How a call ended.
 */
enum EggshadeStatus {
  /**
   * As it was asked for.
   */
  EGGSHADE_STATUS_OK = 0,
  /**
   * The text is not legal, or exceeds a bound; the log says where.
   */
  EGGSHADE_STATUS_REJECTED = 1,
  /**
   * The target has too few of something; the log says of what and how many.
   */
  EGGSHADE_STATUS_DOES_NOT_FIT = 2,
  /**
   * The text asks for something that the target cannot do.
   */
  EGGSHADE_STATUS_UNSUPPORTED = 3,
  /**
   * A fault of the compiler.
   */
  EGGSHADE_STATUS_INTERNAL = 4,
  /**
   * A null pointer, an index out of range, or a name that nothing has.
   */
  EGGSHADE_STATUS_BAD_ARGUMENT = 5,
};

/**
 * What a variable is.
 */
enum EggshadeKind {
  /**
   * A vertex input.
   */
  EGGSHADE_KIND_ATTRIBUTE = 0,
  /**
   * Set by the caller before a draw.
   */
  EGGSHADE_KIND_UNIFORM = 1,
  /**
   * A texture unit's number.
   */
  EGGSHADE_KIND_SAMPLER = 2,
  /**
   * A result of the last stage.
   */
  EGGSHADE_KIND_OUTPUT = 3,
};

/**
 * A stage.
 */
enum EggshadeStage {
  /**
   * Vertices.
   */
  EGGSHADE_STAGE_VERTEX = 0,
  /**
   * Fragments.
   */
  EGGSHADE_STAGE_FRAGMENT = 1,
};

/**
 * What the code of a stage is asked for as.
 */
enum EggshadeForm {
  /**
   * The target's assembly text, with a NUL behind it.
   */
  EGGSHADE_FORM_ASSEMBLY = 0,
  /**
   * The target's binary.
   */
  EGGSHADE_FORM_BINARY = 1,
  /**
   * The description of all that must be bound, as JSON, with a NUL behind it. For a linked program
   * it is that of the whole, whichever stage is asked for.
   */
  EGGSHADE_FORM_REFLECTION = 2,
};

/**
 * Options and the log of the last call. One thread at a time.
 */
struct EggshadeContext;

/**
 * A compiled stage, or two linked ones.
 */
struct EggshadeProgram;

/**
 * A text that the caller owns.
 */
struct EggshadeText {
  /**
   * Its name in diagnostics, with a NUL at the end; may be null. The ending `.tac` says that it is
   * three-address code.
   */
  const char *name;
  /**
   * The bytes; they need no NUL at the end.
   */
  const char *bytes;
  /**
   * How many there are.
   */
  size_t length;
};

/**
 * A bound of the compiler. The name is not ended by a NUL.
 */
struct EggshadeLimit {
  /**
   * Its name; `length` bytes.
   */
  const char *name;
  /**
   * Bytes of the name.
   */
  size_t length;
  /**
   * What it is when nobody sets it.
   */
  size_t initial;
  /**
   * What it can be set to at most.
   */
  size_t maximum;
};

/**
 * Counts of a stage.
 */
struct EggshadeCounts {
  /**
   * Instructions as the target's assembler counts them.
   */
  uint32_t instructions;
  /**
   * Issue slots.
   */
  uint32_t slots;
  /**
   * Lookups.
   */
  uint32_t textures;
  /**
   * Temporaries.
   */
  uint32_t temporaries;
  /**
   * Cycles, estimated.
   */
  uint32_t cycles;
};

/**
 * An active variable.
 */
struct EggshadeVariable {
  /**
   * What it is.
   */
  enum EggshadeKind kind;
  /**
   * Its name in the source; fields of structs with dots.
   */
  const char *name;
  /**
   * Its GLSL type.
   */
  const char *type_name;
  /**
   * Registers of all stages together.
   */
  size_t registers;
};

/**
 * A register of a variable, or one that holds literals.
 */
struct EggshadeRegister {
  /**
   * The stage, an `EggshadeStage`.
   */
  uint32_t stage;
  /**
   * Element of the variable: array element or matrix column.
   */
  uint32_t element;
  /**
   * Such as `c4`.
   */
  const char *name;
  /**
   * The name in the target's own text; the same as `name` when it is not another.
   */
  const char *binding;
  /**
   * Lanes in use.
   */
  uint32_t lanes;
  /**
   * What it must hold at first: literals, or the initial value of a uniform; 0 when none.
   */
  float values[4];
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * A new context: target `vec4`, pipeline `egraph`. Null when that cannot be. Free it with
 * `eggshade_context_free`.
 */
struct EggshadeContext *eggshade_context_new(void);

/**
 * Frees a context; programs made with it stay. Null is allowed.
 *
 * # Safety
 * `context` came from `eggshade_context_new`, is not in use and is not used afterwards.
 */
void eggshade_context_free(struct EggshadeContext *context);

/**
 * What the last call with this context had to say: errors and warnings with file, line, column and
 * source line; empty when nothing. Valid until the next call with it. Null for null.
 *
 * # Safety
 * `context` is null or valid.
 */
const char *eggshade_log(const struct EggshadeContext *context);

/**
 * A built-in target, `NAME` or `NAME:PART` (`arbvp1:strict`).
 *
 * # Safety
 * Pointers are null or valid; `name` has a NUL at the end.
 */
enum EggshadeStatus eggshade_set_target(struct EggshadeContext *context, const char *name);

/**
 * A target of the caller's own: the text of a target file (TOML).
 *
 * # Safety
 * Pointers are null or valid; `toml` has a NUL at the end.
 */
enum EggshadeStatus eggshade_set_target_table(struct EggshadeContext *context, const char *toml);

/**
 * A built-in pipeline: `none`, `paper`, `egraph`, `egraph-saturate`. Comes before `eggshade_set_fp`.
 *
 * # Safety
 * Pointers are null or valid; `name` has a NUL at the end.
 */
enum EggshadeStatus eggshade_set_pipeline(struct EggshadeContext *context,
                                          const char *name);

/**
 * What a rewrite may assume about floats: `strict`, `glsl` or `fast`.
 *
 * # Safety
 * Pointers are null or valid; `level` has a NUL at the end.
 */
enum EggshadeStatus eggshade_set_fp(struct EggshadeContext *context, const char *level);

/**
 * The language of texts without `#version`: 110, 120, or 100 for GLSL ES.
 *
 * # Safety
 * `context` is null or valid.
 */
enum EggshadeStatus eggshade_set_version(struct EggshadeContext *context, uint32_t version);

/**
 * Defines a macro for all texts to come; null for `value` is 1.
 *
 * # Safety
 * Pointers are null or valid; strings have a NUL at the end.
 */
enum EggshadeStatus eggshade_define(struct EggshadeContext *context,
                                    const char *name,
                                    const char *value);

/**
 * Binds an attribute of links to come to a location, as `glBindAttribLocation` does.
 *
 * # Safety
 * Pointers are null or valid; `name` has a NUL at the end.
 */
enum EggshadeStatus eggshade_bind_attribute(struct EggshadeContext *context,
                                            const char *name,
                                            uint32_t location);

/**
 * Sets a bound of the compiler; `eggshade_limit` lists them.
 *
 * # Safety
 * Pointers are null or valid; `name` has a NUL at the end.
 */
enum EggshadeStatus eggshade_set_limit(struct EggshadeContext *context,
                                       const char *name,
                                       size_t value);

/**
 * Whether a text is legal by itself, as `glCompileShader` asks: `main` and the bodies of functions
 * may be in another text. `stage` is an `EggshadeStage`.
 *
 * # Safety
 * Pointers are null or valid.
 */
enum EggshadeStatus eggshade_check(struct EggshadeContext *context,
                                   uint32_t stage,
                                   const struct EggshadeText *text);

/**
 * Compiles the texts of one stage together. A single text whose name ends with `.tac` is three-address
 * code and tells its stage itself. On success `*out` is a program to be freed with
 * `eggshade_program_free`, else null.
 *
 * # Safety
 * Pointers are null or valid; `texts` points to `count` texts.
 */
enum EggshadeStatus eggshade_compile(struct EggshadeContext *context,
                                     uint32_t stage,
                                     const struct EggshadeText *texts,
                                     size_t count,
                                     struct EggshadeProgram **out);

/**
 * Compiles a vertex and a fragment shader as one program, each of one or more texts. On success `*out`
 * is a program to be freed with `eggshade_program_free`, else null.
 *
 * # Safety
 * Pointers are null or valid; they point to as many texts as the counts say.
 */
enum EggshadeStatus eggshade_link(struct EggshadeContext *context,
                                  const struct EggshadeText *vertex,
                                  size_t vertex_count,
                                  const struct EggshadeText *fragment,
                                  size_t fragment_count,
                                  struct EggshadeProgram **out);

/**
 * The version, such as `0.1.0`, with a NUL at the end; never freed.
 */
const char *eggshade_version(void);

/**
 * The bound number `index`, from 0; false when there are no more.
 *
 * # Safety
 * `out` is null or valid.
 */
bool eggshade_limit(size_t index, struct EggshadeLimit *out);

/**
 * Frees a program. Null is allowed.
 *
 * # Safety
 * `program` came from `eggshade_compile` or `eggshade_link` and is not used afterwards.
 */
void eggshade_program_free(struct EggshadeProgram *program);

/**
 * The code of a stage and its length in bytes (without the NUL of a text). Null when the program has no
 * such stage or form. `stage` is an `EggshadeStage`, `form` an `EggshadeForm`.
 *
 * # Safety
 * Pointers are null or valid.
 */
const char *eggshade_code(const struct EggshadeProgram *program,
                          uint32_t stage,
                          uint32_t form,
                          size_t *length);

/**
 * Counts of a stage's code.
 *
 * # Safety
 * Pointers are null or valid.
 */
enum EggshadeStatus eggshade_counts(const struct EggshadeProgram *program,
                                    uint32_t stage,
                                    struct EggshadeCounts *out);

/**
 * How many active variables there are.
 *
 * # Safety
 * `program` is null or valid.
 */
size_t eggshade_variable_count(const struct EggshadeProgram *program);

/**
 * Variable number `index`, from 0.
 *
 * # Safety
 * Pointers are null or valid.
 */
enum EggshadeStatus eggshade_variable(const struct EggshadeProgram *program,
                                      size_t index,
                                      struct EggshadeVariable *out);

/**
 * Register number `index` of a variable, from 0.
 *
 * # Safety
 * Pointers are null or valid.
 */
enum EggshadeStatus eggshade_variable_register(const struct EggshadeProgram *program,
                                               size_t variable,
                                               size_t index,
                                               struct EggshadeRegister *out);

/**
 * How many registers of literals the caller must load for a stage.
 *
 * # Safety
 * `program` is null or valid.
 */
size_t eggshade_literal_count(const struct EggshadeProgram *program, uint32_t stage);

/**
 * Register of literals number `index` of a stage, from 0.
 *
 * # Safety
 * Pointers are null or valid.
 */
enum EggshadeStatus eggshade_literal(const struct EggshadeProgram *program,
                                     uint32_t stage,
                                     size_t index,
                                     struct EggshadeRegister *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* EGGSHADE_H */
