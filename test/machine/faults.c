/*
 * A machine that fails on command, for one process: a library that is loaded before the C library (LD_PRELOAD) and stands
 * between the service and the files below FAULTS_FOLDER. test/machine/faulty-machine.ts builds and steers it.
 *
 * - It keeps a record of every write, sync and change of a folder in FAULTS_RECORD, with what was there before. So after the
 *   process was killed, the test can leave of the unsynced writes what a power cut might leave.
 * - Rules in FAULTS_CONTROL (shared memory) make chosen reads, writes and syncs fail, wait, end the process or flip a bit. What
 *   the storage library reads through its map is no read here: the test changes the file beneath it.
 * - The clocks can be set, as far as the process sees them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RULES_MAX 8
#define FILES_MAX 65536
#define SECTOR 512
#define HEADERS (2 * 4096)

/* Shared with the test; faulty-machine.ts has the same offsets. */
struct rule {
  char place[64];     /* part of the file's path, or its end and a $; empty: the rule is off */
  char operation[8];  /* read, write, sync, create, or one of the kinds of writes below */
  char action[8];     /* fail, wait, kill or flip */
  int64_t skip;       /* so many operations first */
  int64_t count;      /* then so many, each */
  int64_t argument;   /* errno, milliseconds, or the bit */
  int64_t seen;       /* operations that it met */
};
/*
 * page: a write to a file that is not open for synced writes, as the storage library writes its pages. header: a synced one at the
 * start of a file, where its headers are. synced: the moment between a synced write and its being on the disk.
 */
struct control {
  int64_t real_ns, monotonic_ns; /* added to the clocks */
  int64_t drift_ppm;             /* of the wall clock, from drift_from on */
  int64_t drift_from;
  struct rule rules[RULES_MAX];
};

/* A record; faulty-machine.ts and power-cut.ts read it. It is this, the path (and a second one), the old bytes of whole sectors, the new bytes. */
enum kind { WRITE = 1, RESIZE, SYNC_BEGUN, SYNC_DONE, CREATE, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, SYNC_FAILED, WRITE_DONE };
struct record {
  uint32_t kind, unused, path_bytes, other_bytes;
  uint64_t inode, offset, old_size, new_size, old_bytes, new_bytes, number;
};

struct file {
  char *path;
  ino_t inode;
  int durable, readable;
};

static struct control *control;
static struct file files[FILES_MAX];
static char folder[512];
static int record_fd = -1;
static char graves[512];
static uint64_t syncs, grave_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("FAULTS_FOLDER"), *record = getenv("FAULTS_RECORD"), *steer = getenv("FAULTS_CONTROL");
  if (!where || !record || !steer) return;
  snprintf(folder, sizeof folder, "%s/", where);
  snprintf(graves, sizeof graves, "%s.graves", record);
  int fd = syscall(SYS_openat, AT_FDCWD, steer, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (control == MAP_FAILED) control = NULL;
  int low = syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  record_fd = syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 1000);
  if (record_fd >= 0) syscall(SYS_close, low);
  else record_fd = low;
}

static int is_ours(const char *path) {
  return control && record_fd >= 0 && path && strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "-lock") && !strstr(path, ".sock");
}

static int is_folder(const char *path) {
  return control && record_fd >= 0 && path && strncmp(path, folder, strlen(folder) - 1) == 0;
}

static int is_at(const char *path, const char *place) {
  size_t length = strlen(place), rest = strlen(path);
  if (place[length - 1] != '$') return strstr(path, place) != NULL;
  return rest >= length - 1 && strncmp(path + rest - (length - 1), place, length - 1) == 0;
}

/* What a rule says about an operation on a file; NULL: nothing. A rule that ends the process does so here. */
static struct rule *rule_for(const char *operation, const char *path) {
  for (int i = 0; i < RULES_MAX; i++) {
    struct rule *rule = &control->rules[i];
    if (!rule->place[0] || strcmp(rule->operation, operation) != 0 || !is_at(path, rule->place)) continue;
    int64_t seen = __atomic_fetch_add(&rule->seen, 1, __ATOMIC_SEQ_CST);
    if (seen < rule->skip || seen >= rule->skip + rule->count) continue;
    if (strcmp(rule->action, "kill") == 0) syscall(SYS_kill, getpid(), SIGKILL);
    return rule;
  }
  return NULL;
}

/* Waits as long as the rule says, or until it is switched off. */
static void wait_for(struct rule *rule) {
  struct timespec nap = {0, 10000000};
  for (int64_t ms = rule->argument; ms > 0 && rule->place[0]; ms -= 10) syscall(SYS_nanosleep, &nap, NULL);
}

static int refused(struct rule *rule) {
  if (!rule) return 0;
  if (strcmp(rule->action, "wait") == 0) wait_for(rule);
  if (strcmp(rule->action, "fail") != 0) return 0;
  errno = (int)rule->argument;
  return 1;
}

static void put(const void *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    ssize_t written = syscall(SYS_write, record_fd, (const char *)bytes + at, length - at);
    if (written <= 0) abort();
    at += written;
  }
}

static void note(struct record record, const char *path, const char *other, const void *old, const void *new) {
  record.path_bytes = path ? strlen(path) : 0;
  record.other_bytes = other ? strlen(other) : 0;
  put(&record, sizeof record);
  if (path) put(path, record.path_bytes);
  if (other) put(other, record.other_bytes);
  if (old) put(old, record.old_bytes);
  if (new) put(new, record.new_bytes);
}

/* The file that a descriptor was opened for. Some are closed by a bare system call, and may be another file's by now. */
static struct file *file_of(int fd) {
  if (!control || fd < 0 || fd >= FILES_MAX || !files[fd].path) return NULL;
  struct stat stats;
  return fstat(fd, &stats) == 0 && stats.st_ino == files[fd].inode ? &files[fd] : NULL;
}

static void opened(int fd, const char *path, int flags, int existed) {
  if (fd < 0 || fd >= FILES_MAX || !is_folder(path)) return;
  struct stat stats;
  pthread_mutex_lock(&mutex);
  fstat(fd, &stats);
  free(files[fd].path);
  files[fd].path = S_ISDIR(stats.st_mode) || is_ours(path) ? strdup(path) : NULL;
  files[fd].inode = stats.st_ino;
  files[fd].durable = (flags & O_DSYNC) != 0;
  files[fd].readable = (flags & O_ACCMODE) != O_WRONLY;
  if (files[fd].path && !existed)
    note((struct record){.kind = CREATE, .inode = stats.st_ino}, path, NULL, NULL, NULL);
  pthread_mutex_unlock(&mutex);
}

static int open_at(int dir, const char *path, int flags, mode_t mode) {
  struct stat stats;
  int existed = !(flags & O_CREAT) || !is_folder(path) || stat(path, &stats) == 0;
  if (!existed && is_ours(path) && refused(rule_for("create", path))) return -1;
  int fd = syscall(SYS_openat, dir, path, flags | O_LARGEFILE, mode);
  opened(fd, path, flags, existed);
  return fd;
}

#define MODE_OF(flags) ({ mode_t m = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list l; va_start(l, flags); m = va_arg(l, mode_t); va_end(l); } m; })
#include <stdarg.h>
int open(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE_OF(flags)); }
int open64(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE_OF(flags)); }
int openat(int dir, const char *path, int flags, ...) { return open_at(dir, path, flags, MODE_OF(flags)); }
int openat64(int dir, const char *path, int flags, ...) { return open_at(dir, path, flags, MODE_OF(flags)); }

int close(int fd) {
  if (file_of(fd)) {
    pthread_mutex_lock(&mutex);
    free(files[fd].path);
    files[fd].path = NULL;
    pthread_mutex_unlock(&mutex);
  }
  return syscall(SYS_close, fd);
}

/* Writes at an offset, and notes what was in the sectors before. */
static ssize_t write_at(int fd, struct file *file, const void *bytes, size_t length, off_t offset) {
  struct rule *rule = rule_for("write", file->path);
  if (refused(rule)) return -1;
  if (!file->durable && refused(rule_for("page", file->path))) return -1;
  if (file->durable && offset < HEADERS && refused(rule_for("header", file->path))) return -1;
  struct stat stats;
  pthread_mutex_lock(&mutex);
  fstat(fd, &stats);
  uint64_t start = offset / SECTOR * SECTOR, end = (offset + length + SECTOR - 1) / SECTOR * SECTOR;
  char *old = calloc(1, end - start);
  int reader = fd;
  if (!file->readable) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    reader = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
  }
  ssize_t had = syscall(SYS_pread64, reader, old, end - start, start);
  if (reader != fd) syscall(SYS_close, reader);
  (void)had;
  char *flipped = NULL;
  if (rule && strcmp(rule->action, "flip") == 0) {
    flipped = malloc(length);
    memcpy(flipped, bytes, length);
    flipped[rule->argument / 8 % length] ^= 1 << (rule->argument % 8);
    bytes = flipped;
  }
  uint64_t size = stats.st_size > (off_t)(offset + length) ? (uint64_t)stats.st_size : (uint64_t)offset + length;
  struct record record = {.kind = WRITE, .inode = stats.st_ino, .offset = offset, .old_size = stats.st_size,
                          .new_size = size, .old_bytes = end - start, .new_bytes = length};
  note(record, file->path, NULL, old, bytes);
  ssize_t written = syscall(SYS_pwrite64, fd, bytes, length, offset);
  if (file->durable && written == (ssize_t)length) {
    /* Between the write and its being on the disk. */
    rule_for("synced", file->path);
    record.kind = WRITE_DONE;
    note(record, file->path, NULL, old, bytes);
  }
  pthread_mutex_unlock(&mutex);
  free(old);
  free(flipped);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  struct file *file = file_of(fd);
  return file ? write_at(fd, file, bytes, length, offset) : syscall(SYS_pwrite64, fd, bytes, length, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return pwrite(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) {
  struct file *file = file_of(fd);
  if (!file) return syscall(SYS_write, fd, bytes, length);
  int isAppended = (syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND) != 0;
  off_t at = syscall(SYS_lseek, fd, 0, isAppended ? SEEK_END : SEEK_CUR);
  ssize_t written = write_at(fd, file, bytes, length, at);
  if (written > 0) syscall(SYS_lseek, fd, at + written, SEEK_SET);
  return written;
}

/* Reads at an offset, or where the file stands when that is negative; what is returned may not be what lies there. */
static ssize_t read_at(int fd, struct file *file, void *bytes, size_t length, off_t offset) {
  struct rule *rule = rule_for("read", file->path);
  if (refused(rule)) return -1;
  ssize_t had = offset < 0 ? syscall(SYS_read, fd, bytes, length) : syscall(SYS_pread64, fd, bytes, length, offset);
  if (had > 0 && rule && strcmp(rule->action, "flip") == 0)
    ((char *)bytes)[rule->argument / 8 % had] ^= 1 << (rule->argument % 8);
  return had;
}
ssize_t pread(int fd, void *bytes, size_t length, off_t offset) {
  struct file *file = file_of(fd);
  return file ? read_at(fd, file, bytes, length, offset) : syscall(SYS_pread64, fd, bytes, length, offset);
}
ssize_t pread64(int fd, void *bytes, size_t length, off_t offset) { return pread(fd, bytes, length, offset); }
ssize_t read(int fd, void *bytes, size_t length) {
  struct file *file = file_of(fd);
  return file ? read_at(fd, file, bytes, length, -1) : syscall(SYS_read, fd, bytes, length);
}

static ssize_t write_parts(int fd, struct file *file, const struct iovec *parts, int count, off_t offset) {
  size_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  char *bytes = malloc(length + 1), *end = bytes;
  for (int i = 0; i < count; i++) end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
  ssize_t written = offset < 0 ? write(fd, bytes, length) : write_at(fd, file, bytes, length, offset);
  free(bytes);
  return written;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  struct file *file = file_of(fd);
  return file ? write_parts(fd, file, parts, count, -1) : syscall(SYS_writev, fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  struct file *file = file_of(fd);
  return file ? write_parts(fd, file, parts, count, offset) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }

static void note_size(int fd, const char *path, off_t size) {
  struct stat stats;
  if ((fd < 0 ? stat(path, &stats) : fstat(fd, &stats)) != 0) return;
  note((struct record){.kind = RESIZE, .inode = stats.st_ino, .old_size = stats.st_size, .new_size = size}, path, NULL, NULL, NULL);
}
int ftruncate(int fd, off_t size) {
  struct file *file = file_of(fd);
  pthread_mutex_lock(&mutex);
  if (file) note_size(fd, file->path, size);
  int result = syscall(SYS_ftruncate, fd, size);
  pthread_mutex_unlock(&mutex);
  return result;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
int truncate(const char *path, off_t size) {
  pthread_mutex_lock(&mutex);
  if (is_ours(path)) note_size(-1, path, size);
  int result = syscall(SYS_truncate, path, size);
  pthread_mutex_unlock(&mutex);
  return result;
}
int truncate64(const char *path, off_t size) { return truncate(path, size); }

static int sync_file(int fd, long call) {
  struct file *file = file_of(fd);
  if (!file) return syscall(call, fd);
  struct stat stats;
  fstat(fd, &stats);
  pthread_mutex_lock(&mutex);
  struct record record = {.kind = SYNC_BEGUN, .inode = stats.st_ino, .number = ((uint64_t)getpid() << 30) + ++syncs};
  note(record, file->path, NULL, NULL, NULL);
  pthread_mutex_unlock(&mutex);
  int failed = refused(rule_for("sync", file->path)) ? errno : 0;
  int result = failed ? -1 : syscall(call, fd);
  pthread_mutex_lock(&mutex);
  record.kind = result == 0 ? SYNC_DONE : SYNC_FAILED;
  if (file->path) note(record, file->path, NULL, NULL, NULL);
  pthread_mutex_unlock(&mutex);
  if (failed) errno = failed;
  return result;
}
int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

/* Keeps what lies under a path that is removed or overwritten. Returns its number, 0 when there is nothing. */
static uint64_t bury(const char *path, uint64_t *inode) {
  struct stat stats;
  if (lstat(path, &stats) != 0) return 0;
  *inode = stats.st_ino;
  if (!S_ISREG(stats.st_mode)) return 0;
  char grave[600];
  snprintf(grave, sizeof grave, "%s/%d-%lu", graves, getpid(), ++grave_count);
  return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, grave, 0) == 0 ? grave_count : 0;
}

int rename(const char *from, const char *to) {
  if (!is_ours(from)) return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
  pthread_mutex_lock(&mutex);
  struct record record = {.kind = RENAME, .old_size = getpid()};
  record.number = bury(to, &record.inode);
  int result = syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
  if (result == 0) note(record, from, to, NULL, NULL);
  pthread_mutex_unlock(&mutex);
  return result;
}

static int remove_path(int dir, const char *path, int flags) {
  if (!is_ours(path)) return syscall(SYS_unlinkat, dir, path, flags);
  pthread_mutex_lock(&mutex);
  struct record record = {.kind = flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, .old_size = getpid()};
  record.number = bury(path, &record.inode);
  int result = syscall(SYS_unlinkat, dir, path, flags);
  if (result == 0) note(record, path, NULL, NULL, NULL);
  pthread_mutex_unlock(&mutex);
  return result;
}
int unlink(const char *path) { return remove_path(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return remove_path(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int dir, const char *path, int flags) { return remove_path(dir, path, flags); }
int remove(const char *path) {
  struct stat stats;
  return remove_path(AT_FDCWD, path, lstat(path, &stats) == 0 && S_ISDIR(stats.st_mode) ? AT_REMOVEDIR : 0);
}
int mkdir(const char *path, mode_t mode) {
  int result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0 && is_ours(path)) {
    pthread_mutex_lock(&mutex);
    note((struct record){.kind = MAKE_FOLDER}, path, NULL, NULL, NULL);
    pthread_mutex_unlock(&mutex);
  }
  return result;
}

static int64_t added(clockid_t clock, const struct timespec *now) {
  if (!control) return 0;
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME) return control->monotonic_ns;
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return 0;
  int64_t since = control->drift_from ? now->tv_sec - control->drift_from : 0;
  return control->real_ns + since * control->drift_ppm * 1000;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = REAL(clock_gettime)(clock, now);
  if (result != 0) return result;
  int64_t ns = now->tv_nsec + added(clock, now);
  int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
  if (rest < 0) { rest += 1000000000; seconds--; }
  now->tv_sec += seconds;
  now->tv_nsec = rest;
  return 0;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
