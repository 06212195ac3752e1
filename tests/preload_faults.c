/*
 * A library for LD_PRELOAD under which the n-th call of a kind fails, as on a full or broken disk:
 * LIVESTEREO_FAULT="KIND N ERRNO FILE", KIND being write, fsync, rename, open, mkdir, thread or
 * memory. The calls are counted from main() on; how many there were is written to FILE at the end.
 * Calls of the kernel are caught there (seccomp), so that those of the C library's own streams are
 * too; of write, those to regular files and to standard output count. x86-64 and glibc only.
 * Call sites of allocations: with N = 0, FILE also gets a line "SITE CALLS" for each; a SITE after
 * FILE makes only the calls from there count. A site is a hash of the four nearest return
 * addresses, in whatever library, and of the two nearest ones in the program itself.
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
    KIND_WRITE,
    KIND_FSYNC,
    KIND_RENAME,
    KIND_OPEN,
    KIND_MKDIR,
    KIND_THREAD,
    KIND_MEMORY,
    KINDS
};
static const char *const kind_names[KINDS] = {"write", "fsync",  "rename", "open",
                                              "mkdir", "thread", "memory"};

static const struct {
    int kind, number;
} calls[] = {
    {KIND_WRITE, SYS_write},     {KIND_WRITE, SYS_pwrite64},   {KIND_WRITE, SYS_writev},
    {KIND_FSYNC, SYS_fsync},     {KIND_FSYNC, SYS_fdatasync},  {KIND_RENAME, SYS_rename},
    {KIND_RENAME, SYS_renameat}, {KIND_RENAME, SYS_renameat2}, {KIND_OPEN, SYS_open},
    {KIND_OPEN, SYS_openat},     {KIND_OPEN, SYS_creat},       {KIND_MKDIR, SYS_mkdir},
    {KIND_MKDIR, SYS_mkdirat},
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static int kind = -1, fails_with, report = -1;
static long fails_at, count; /* count is atomic */

static int fail_now(void) {
    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == fails_at;
}

/* ---- calls of the kernel */

/* The one place from which the filter lets every call pass. */
__asm__(".text\n.globl pass_start\n.hidden pass_start\n.globl pass_end\n.hidden pass_end\n"
        "pass_call:\n"
        "    mov %rdi, %rax\n    mov %rsi, %rdi\n    mov %rdx, %rsi\n    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n    mov %r9, %r8\n    mov 8(%rsp), %r9\n"
        "pass_start:\n    syscall\npass_end:\n    ret\n");
extern const char pass_start[], pass_end[];
long pass_call(long number, long a, long b, long c, long d, long e, long f);

/* Whether a call of the kind counts. Writes to pipes and to events are between threads; the
 * kernel's own files are always there. */
static int counts(int number, const greg_t *r) {
    struct stat about;
    if (kind == KIND_OPEN) {
        const char *path = (const char *)(number == SYS_openat ? r[REG_RSI] : r[REG_RDI]);
        return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0;
    }
    return kind != KIND_WRITE || r[REG_RDI] == STDOUT_FILENO ||
           (pass_call(SYS_fstat, r[REG_RDI], (long)&about, 0, 0, 0, 0) == 0 &&
            S_ISREG(about.st_mode));
}

static void trap(int sig, siginfo_t *info, void *context) {
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)sig;
    if (counts(info->si_syscall, r) && fail_now())
        r[REG_RAX] = -fails_with;
    else
        r[REG_RAX] = pass_call(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10],
                               r[REG_R8], r[REG_R9]);
}

static void catch_calls(void) {
    struct sock_filter filter[2 * CALLS + 8];
    size_t n = 0;
    uintptr_t passes = (uintptr_t)pass_end;
    static const struct sock_filter load_ip_high = BPF_STMT(
                                        BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, instruction_pointer) + 4),
                                    load_ip_low = BPF_STMT(
                                        BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, instruction_pointer)),
                                    load_number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                           offsetof(struct seccomp_data, nr)),
                                    allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                    caught = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    filter[n++] = load_ip_low;
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)passes, 0, 3);
    filter[n++] = load_ip_high;
    filter[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(passes >> 32), 0, 1);
    filter[n++] = allow;
    filter[n++] = load_number;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].kind == kind) {
            filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                       (uint32_t)calls[i].number, 0, 1);
            filter[n++] = caught;
        }
    filter[n++] = allow;
    struct sock_fprog program = {(unsigned short)n, filter};
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        _exit(99);
}

/* A thread that blocked the signal would be ended by it. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    sigset_t without;
    if (set && how != SIG_UNBLOCK) {
        without = *set;
        sigdelset(&without, SIGSYS);
        set = &without;
    }
    return syscall(SYS_rt_sigprocmask, how, set, old, 8) ? errno : 0;
}

/* ---- threads and memory */

int pthread_create(pthread_t *thread, const pthread_attr_t *about, void *(*run)(void *),
                   void *context) {
    __typeof__(&pthread_create) create =
        (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
    return kind == KIND_THREAD && fail_now() ? fails_with : create(thread, about, run, context);
}

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

enum { NEAREST = 4, NEAREST_OWN = 2, SITES = 1 << 14 };
static struct {
    uint64_t site; /* 0: free */
    long calls;    /* both are atomic */
} sites[SITES];
static uint64_t only_site;
static void *program_map, *preload_map;

struct walk {
    int nearest, own; /* how many of the addresses are still to be found */
    uint64_t site;
};

/* Names the first library but the C library itself. */
static _Unwind_Reason_Code crash_step(struct _Unwind_Context *context, void *data) {
    struct dl_find_object in;
    (void)data;
    if (_dl_find_object((void *)_Unwind_GetIP(context), &in) != 0) {
        dprintf(STDERR_FILENO, "crash in generated code\n");
        return _URC_END_OF_STACK;
    }
    const char *name = in.dlfo_link_map->l_name;
    if (in.dlfo_map_start == preload_map || strstr(name, "/libc.so."))
        return _URC_NO_REASON;
    dprintf(STDERR_FILENO, "crash in %s\n", basename(name));
    return _URC_END_OF_STACK;
}

/* The instruction is repeated after it, or abort() goes on, which ends the program. */
static void tell_crash(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info, (void)context;
    _Unwind_Backtrace(crash_step, NULL);
}

static _Unwind_Reason_Code walk_step(struct _Unwind_Context *context, void *data) {
    struct walk *walk = data;
    char *at = (char *)_Unwind_GetIP(context);
    struct dl_find_object in;
    if (_dl_find_object(at, &in) != 0)
        return _URC_END_OF_STACK;
    if (in.dlfo_map_start == preload_map)
        return _URC_NO_REASON;
    bool own = in.dlfo_map_start == program_map && walk->own > 0;
    if (walk->nearest > 0 || own) {
        /* a library is known by its size, since it is loaded elsewhere in every run */
        walk->site =
            (walk->site ^ (uint64_t)((char *)in.dlfo_map_end - (char *)in.dlfo_map_start)) *
            0x100000001b3u;
        walk->site = (walk->site ^ (uint64_t)(at - (char *)in.dlfo_map_start)) * 0x100000001b3u;
    }
    walk->nearest -= walk->nearest > 0;
    walk->own -= own;
    return walk->nearest > 0 || walk->own > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uint64_t site_of_call(void) {
    struct walk walk = {NEAREST, NEAREST_OWN, 0xcbf29ce484222325u};
    _Unwind_Backtrace(walk_step, &walk);
    return walk.site;
}

static void count_site(uint64_t site) {
    for (size_t i = 0; i < SITES; i++) {
        size_t at = (site + i) % SITES;
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&sites[at].site, &found, site, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            found == site) {
            __atomic_add_fetch(&sites[at].calls, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    _exit(99); /* SITES is too small */
}

static int no_memory(void) {
    if (kind != KIND_MEMORY)
        return 0;
    if (fails_at == 0)
        count_site(site_of_call());
    if ((only_site && site_of_call() != only_site) || !fail_now())
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) {
    return no_memory() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes) {
    return no_memory() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes) {
    return no_memory() ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return no_memory() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    void *got = no_memory() ? NULL : __libc_memalign(alignment, bytes);
    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

/* ---- begin and end */

typedef int main_function(int, char **, char **);
static main_function *real_main;

static void begin(void) {
    char name[16], path[256];
    const char *fault = getenv("LIVESTEREO_FAULT");
    if (!fault || sscanf(fault, "%15s %ld %d %255s %" SCNx64, name, &fails_at, &fails_with, path,
                         &only_site) < 4)
        return;
    struct dl_find_object in;
    if (_dl_find_object((void *)real_main, &in) == 0)
        program_map = in.dlfo_map_start;
    if (_dl_find_object((void *)begin, &in) == 0)
        preload_map = in.dlfo_map_start;
    report = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; i < KINDS; i++)
        if (strcmp(name, kind_names[i]) == 0)
            kind = i;
    struct sigaction crash = {.sa_sigaction = tell_crash, .sa_flags = SA_SIGINFO | SA_RESETHAND};
    if (kind < KIND_THREAD)
        catch_calls();
    else if (sigaction(SIGSEGV, &crash, NULL) != 0 || sigaction(SIGABRT, &crash, NULL) != 0)
        _exit(99);
}

/* Counting begins with main(): what libraries do while they are loaded, CUDA's runtime among them,
 * is theirs. */
static int counted_main(int argc, char **argv, char **environment) {
    begin();
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
    __typeof__(&__libc_start_main) start =
        (__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void end(void) {
    long all = count;
    kind = -1;
    if (report < 0)
        return;
    dprintf(report, "%ld\n", all);
    for (size_t i = 0; i < SITES; i++)
        if (sites[i].site)
            dprintf(report, "%" PRIx64 " %ld\n", sites[i].site, sites[i].calls);
}
