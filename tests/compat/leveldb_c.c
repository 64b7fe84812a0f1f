/* A program for LevelDB's C interface: leveldb_c FOLDER. Calls every function and prints what it
 * sees. It knows LevelDB's interface alone, so that built against two libraries it must print the
 * same. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leveldb/c.h"

static char* error = NULL;

static void print_bytes(const char* bytes, size_t size) {
  size_t i;
  for (i = 0; i < size && i < 40; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (c >= ' ' && c < 0x7f && c != '\\') {
      putchar(c);
    } else {
      printf("\\x%02x", c);
    }
  }
  if (i < size) printf("... (%lu)", (unsigned long)size);
}

static void print_error(const char* what) {
  printf("%s: %s\n", what, error == NULL ? "no error" : error);
  leveldb_free(error);
  error = NULL;
}

static void print_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                      size_t size) {
  size_t length = 12345;
  char* value = leveldb_get(db, options, key, size, &length, &error);
  printf("get ");
  print_bytes(key, size);
  printf(" = ");
  if (value != NULL) print_bytes(value, length);
  printf(" (%d, %lu) ", value != NULL, (unsigned long)length);
  print_error("");
  leveldb_free(value);
}

static void print_all(leveldb_t* db, const leveldb_readoptions_t* options, int backward) {
  leveldb_iterator_t* it = leveldb_create_iterator(db, options);
  unsigned long sum = 0, count = 0;
  size_t i, size;
  printf("valid %d, ", leveldb_iter_valid(it));
  if (backward) {
    leveldb_iter_seek_to_last(it);
  } else {
    leveldb_iter_seek_to_first(it);
  }
  while (leveldb_iter_valid(it)) {
    const char* bytes = leveldb_iter_key(it, &size);
    for (i = 0; i < size; i++) sum = (sum * 31 + (unsigned char)bytes[i]) & 0xffffffff;
    bytes = leveldb_iter_value(it, &size);
    for (i = 0; i < size; i++) sum = (sum * 31 + (unsigned char)bytes[i]) & 0xffffffff;
    count++;
    if (backward) {
      leveldb_iter_prev(it);
    } else {
      leveldb_iter_next(it);
    }
  }
  printf("%lu entries, sum %lu", count, sum);
  leveldb_iter_get_error(it, &error);
  print_error(" ");
  leveldb_iter_destroy(it);
}

static void print_seek(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                       size_t size) {
  leveldb_iterator_t* it = leveldb_create_iterator(db, options);
  leveldb_iter_seek(it, key, size);
  printf("seek ");
  print_bytes(key, size);
  if (leveldb_iter_valid(it)) {
    size_t length;
    const char* bytes = leveldb_iter_key(it, &length);
    printf(" -> ");
    print_bytes(bytes, length);
    bytes = leveldb_iter_value(it, &length);
    printf(" = ");
    print_bytes(bytes, length);
  }
  printf("\n");
  leveldb_iter_destroy(it);
}

/* --- Calls back --- */

struct calls {
  int compared, named, filtered, matched, destroyed;
};

/* Keys backwards, and without case. */
static int compare(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  const size_t common = alen < blen ? alen : blen;
  size_t i;
  __atomic_fetch_add(&((struct calls*)state)->compared, 1, __ATOMIC_RELAXED);
  for (i = 0; i < common; i++) {
    const int difference = tolower((unsigned char)b[i]) - tolower((unsigned char)a[i]);
    if (difference != 0) return difference;
  }
  return alen == blen ? 0 : alen < blen ? 1 : -1;
}

static const char* comparator_name(void* state) {
  __atomic_fetch_add(&((struct calls*)state)->named, 1, __ATOMIC_RELAXED);
  return "program.backwards";
}

static void destroyed(void* state) { ((struct calls*)state)->destroyed++; }

/* A filter of the first key's length alone, which is right here: all keys are equally long. */
static char* create_filter(void* state, const char* const* keys, const size_t* lengths, int count,
                           size_t* filter_length) {
  char* filter = malloc(2);
  __atomic_fetch_add(&((struct calls*)state)->filtered, 1, __ATOMIC_RELAXED);
  filter[0] = (char)(count > 0 && keys[0] != NULL);
  filter[1] = (char)lengths[0];
  *filter_length = 2;
  return filter;
}

static uint8_t key_may_match(void* state, const char* key, size_t length, const char* filter,
                             size_t filter_length) {
  __atomic_fetch_add(&((struct calls*)state)->matched, 1, __ATOMIC_RELAXED);
  return key == NULL || filter_length != 2 || filter[1] == (char)length;
}

static const char* filter_name(void* state) {
  (void)state;
  return "program.length";
}

static void put_seen(void* state, const char* k, size_t klen, const char* v, size_t vlen) {
  printf("  %s put ", (const char*)state);
  print_bytes(k, klen);
  printf(" = ");
  print_bytes(v, vlen);
  printf("\n");
}

static void delete_seen(void* state, const char* k, size_t klen) {
  printf("  %s delete ", (const char*)state);
  print_bytes(k, klen);
  printf("\n");
}

/* --- Parts --- */

static void opening(leveldb_options_t* options) {
  leveldb_t* db;
  printf("-- opening\n");
  printf("null %d ", leveldb_open(options, "store", &error) == NULL);
  print_error("missing");
  error = strdup("an older error");
  leveldb_options_set_create_if_missing(options, 1);
  db = leveldb_open(options, "store", &error);
  print_error("an older error stays where all is well");
  printf("null %d ", leveldb_open(options, "store", &error) == NULL);
  print_error("held");
  leveldb_close(db);
  leveldb_options_set_error_if_exists(options, 1);
  error = strdup("an older error");
  printf("null %d ", leveldb_open(options, "store", &error) == NULL);
  print_error("exists");
  leveldb_options_set_error_if_exists(options, 0);
}

static void writes_and_reads(leveldb_t* db, const leveldb_readoptions_t* read,
                             leveldb_writeoptions_t* write) {
  char high[256];
  int i;
  printf("-- writes and reads\n");
  for (i = 0; i < 256; i++) high[i] = (char)(255 - i);
  leveldb_put(db, write, "foo", 3, "hello", 5, &error);
  leveldb_put(db, write, "", 0, "of the empty key", 16, &error);
  leveldb_put(db, write, "empty", 5, "", 0, &error);
  leveldb_put(db, write, high, 256, high, 256, &error);
  leveldb_writeoptions_set_sync(write, 1);
  leveldb_put(db, write, "nul\0nul", 7, "\0", 1, &error);
  leveldb_writeoptions_set_sync(write, 0);
  leveldb_put(db, write, "gone", 4, "x", 1, &error);
  leveldb_delete(db, write, "gone", 4, &error);
  leveldb_delete(db, write, "never", 5, &error);
  print_error("writes");
  print_get(db, read, "foo", 3);
  print_get(db, read, "", 0);
  print_get(db, read, "empty", 5);
  print_get(db, read, high, 256);
  print_get(db, read, "nul\0nul", 7);
  print_get(db, read, "nul", 3);
  print_get(db, read, "gone", 4);
}

static void batches(leveldb_t* db, const leveldb_readoptions_t* read,
                    const leveldb_writeoptions_t* write) {
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_t* other = leveldb_writebatch_create();
  char state[] = "state";
  printf("-- batches\n");
  leveldb_writebatch_put(batch, "foo", 3, "lost", 4);
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "bar", 3, "b", 1);
  leveldb_writebatch_put(batch, "box", 3, "c", 1);
  leveldb_writebatch_delete(other, "bar", 3);
  leveldb_writebatch_put(other, "\xff", 1, "\x80", 1);
  leveldb_writebatch_append(batch, other);
  leveldb_writebatch_iterate(batch, state, put_seen, delete_seen);
  leveldb_write(db, write, batch, &error);
  print_error("write");
  print_get(db, read, "foo", 3);
  print_get(db, read, "bar", 3);
  print_get(db, read, "box", 3);
  leveldb_writebatch_destroy(batch);
  leveldb_writebatch_destroy(other);
  print_all(db, read, 0);
  print_all(db, read, 1);
  print_seek(db, read, "b", 1);
  print_seek(db, read, "box", 3);
  print_seek(db, read, "foo\x01", 4);
  print_seek(db, read, "\xff\xff\xff", 3);
}

static void snapshots(leveldb_t* db, leveldb_readoptions_t* read,
                      const leveldb_writeoptions_t* write) {
  const leveldb_snapshot_t* snapshot = leveldb_create_snapshot(db);
  printf("-- snapshots\n");
  leveldb_delete(db, write, "foo", 3, &error);
  leveldb_put(db, write, "later", 5, "1", 1, &error);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_readoptions_set_snapshot(read, snapshot);
  print_get(db, read, "foo", 3);
  print_get(db, read, "later", 5);
  print_all(db, read, 0);
  leveldb_readoptions_set_snapshot(read, NULL);
  print_get(db, read, "foo", 3);
  print_all(db, read, 0);
  leveldb_release_snapshot(db, snapshot);
}

static void sizes(leveldb_t* db, const leveldb_writeoptions_t* write) {
  const char* starts[2] = {"a", "k00000000000010000"};
  const char* limits[2] = {"k00000000000010000", "z"};
  const size_t start_lengths[2] = {1, 18}, limit_lengths[2] = {18, 1};
  uint64_t bytes[2] = {0, 0};
  char key[32], value[101], *text;
  int i, j;
  unsigned random = 1;
  printf("-- sizes\n");
  for (i = 0; i < 20000; i++) {
    snprintf(key, sizeof key, "k%017d", i);
    for (j = 0; j < 100; j++) value[j] = (char)((random = random * 1103515245 + 12345) >> 16);
    leveldb_put(db, write, key, strlen(key), value, 100, &error);
  }
  leveldb_compact_range(db, "a", 1, "z", 1);
  leveldb_approximate_sizes(db, 2, starts, start_lengths, limits, limit_lengths, bytes);
  print_error("sizes");
  printf("halves %d %d\n",
         bytes[0] > 800000 && bytes[0]<1600000, bytes[1]> 800000 && bytes[1] < 1600000);
  printf("unknown %d\n", leveldb_property_value(db, "nosuchprop") == NULL);
  text = leveldb_property_value(db, "leveldb.num-files-at-level0");
  printf("tables in level 0: %s\n", text);
  leveldb_free(text);
  text = leveldb_property_value(db, "leveldb.stats");
  printf("stats %d\n", text != NULL && text[0] != '\0');
  leveldb_free(text);
}

static void repair(leveldb_options_t* options, const leveldb_readoptions_t* read) {
  leveldb_t* db;
  printf("-- repair\n");
  unlink("store/CURRENT");
  leveldb_options_set_create_if_missing(options, 0);
  printf("null %d ", leveldb_open(options, "store", &error) == NULL);
  print_error("without CURRENT");
  leveldb_repair_db(options, "store", &error);
  print_error("repair");
  db = leveldb_open(options, "store", &error);
  print_error("open");
  print_all(db, read, 0);
  print_all(db, read, 1);
  leveldb_close(db);
  leveldb_destroy_db(options, "store", &error);
  print_error("destroy");
  printf("null %d ", leveldb_open(options, "store", &error) == NULL);
  print_error("destroyed");
}

/* A store under an order and, by `round`, a filter of ours, of the library's, or none. */
static void own_order(leveldb_options_t* options, const leveldb_readoptions_t* read,
                      const leveldb_writeoptions_t* write, int round) {
  struct calls order = {0, 0, 0, 0, 0}, filter = {0, 0, 0, 0, 0};
  leveldb_comparator_t* comparator =
      leveldb_comparator_create(&order, destroyed, compare, comparator_name);
  leveldb_filterpolicy_t* policy =
      round == 0   ? leveldb_filterpolicy_create(&filter, destroyed, create_filter, key_may_match,
                                                 filter_name)
      : round == 1 ? leveldb_filterpolicy_create_bloom(10)
                   : NULL;
  leveldb_t* db;
  char key[32], name[32];
  int i;
  printf("-- own order %d\n", round);
  leveldb_options_set_comparator(options, comparator);
  leveldb_options_set_filter_policy(options, policy);
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_options_set_compression(
      options, round % 2 == 0 ? leveldb_snappy_compression : leveldb_no_compression);
  snprintf(name, sizeof name, "ordered%d", round);
  db = leveldb_open(options, name, &error);
  print_error("open");
  for (i = 0; i < 3000; i++) {
    snprintf(key, sizeof key, "%s%05d", i % 2 ? "KEY" : "key", i * 7 % 3000);
    leveldb_put(db, write, key, 8, key, 8, &error);
  }
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  print_error("puts");
  print_get(db, read, round == 1 ? "KEY00001" : "key00001", 8);
  print_get(db, read, "KEY02999", 8);
  print_get(db, read, "key09999", 8);
  if (round != 1) print_get(db, read, "key00001, longer", 16);
  print_all(db, read, 0);
  print_all(db, read, 1);
  print_seek(db, read, "kEy01500", 8);
  leveldb_close(db);
  leveldb_options_set_comparator(options, comparator);
  db = leveldb_open(options, name, &error);
  print_error("open again");
  print_all(db, read, 0);
  leveldb_close(db);
  leveldb_destroy_db(options, name, &error);
  print_error("destroy");
  printf("called %d %d %d %d\n", order.compared > 1000, order.named > 0, filter.filtered > 0,
         filter.matched > 0);
  leveldb_comparator_destroy(comparator);
  if (policy != NULL) leveldb_filterpolicy_destroy(policy);
  printf("destroyed %d %d\n", order.destroyed, filter.destroyed);
}

int main(int argc, char** argv) {
  leveldb_options_t* options = leveldb_options_create();
  leveldb_readoptions_t* read = leveldb_readoptions_create();
  leveldb_writeoptions_t* write = leveldb_writeoptions_create();
  leveldb_cache_t* cache = leveldb_cache_create_lru(100000);
  leveldb_env_t* env = leveldb_create_default_env();
  leveldb_options_t* plain;
  leveldb_t* db;
  char* folder;
  int round;
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  printf("version %d.%d\n", leveldb_major_version(), leveldb_minor_version());
  folder = leveldb_env_get_test_directory(env);
  printf("test folder %d\n", folder != NULL && folder[0] == '/');
  leveldb_free(folder);

  leveldb_options_set_cache(options, cache);
  leveldb_options_set_env(options, env);
  leveldb_options_set_info_log(options, NULL);
  leveldb_options_set_write_buffer_size(options, 100000);
  leveldb_options_set_paranoid_checks(options, 1);
  leveldb_options_set_max_open_files(options, 10);
  leveldb_options_set_block_size(options, 1024);
  leveldb_options_set_block_restart_interval(options, 8);
  leveldb_options_set_max_file_size(options, 3 << 20);
  leveldb_options_set_compression(options, leveldb_no_compression);
  leveldb_readoptions_set_verify_checksums(read, 1);
  leveldb_readoptions_set_fill_cache(read, 0);

  opening(options);
  db = leveldb_open(options, "store", &error);
  print_error("open");
  writes_and_reads(db, read, write);
  batches(db, read, write);
  snapshots(db, read, write);
  sizes(db, write);
  leveldb_close(db);
  repair(options, read);
  for (round = 0; round < 3; round++) own_order(options, read, write, round);

  plain = leveldb_options_create();
  leveldb_options_set_create_if_missing(plain, 1);
  db = leveldb_open(plain, "plain", &error);
  print_error("plain");
  print_all(db, read, 0);
  leveldb_close(db);
  leveldb_options_destroy(plain);

  leveldb_options_destroy(options);
  leveldb_readoptions_destroy(read);
  leveldb_writeoptions_destroy(write);
  leveldb_cache_destroy(cache);
  leveldb_env_destroy(env);
  return 0;
}
