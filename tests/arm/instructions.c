/*
 * A plugin of qemu-aarch64: how many instructions each function of a program of one thread ran.
 * Prints "COUNT FUNCTION" lines at the end. The functions of qemu's interface are declared here,
 * since Debian has no package with its header. SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*translated)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t, void *), void *context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, enum qemu_plugin_op op,
                                              void *counter, uint64_t add);
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);
extern int qemu_plugin_version;

EXPORT int qemu_plugin_version = 1;

static struct {
    char name[64];
    uint64_t instructions;
} function[4096]; /* the last one: all that are left */

static void count_block(uint64_t id, struct qemu_plugin_tb *block) {
    const char *name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
    size_t i = 0, last = sizeof(function) / sizeof(function[0]) - 1;
    (void)id;
    if (!name || !name[0])
        name = "?";
    while (i < last && function[i].name[0] && strncmp(function[i].name, name, 63) != 0)
        i++;
    strncpy(function[i].name, name, 63);
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                             &function[i].instructions,
                                             qemu_plugin_tb_n_insns(block));
}

static void print_counts(uint64_t id, void *context) {
    (void)id;
    (void)context;
    for (size_t i = 0; i < sizeof(function) / sizeof(function[0]); i++)
        if (function[i].instructions)
            fprintf(stderr, "%llu %s\n", (unsigned long long)function[i].instructions,
                    function[i].name);
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
    qemu_plugin_register_atexit_cb(id, print_counts, NULL);
    return 0;
}
