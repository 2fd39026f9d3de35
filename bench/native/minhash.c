/*
 * The native reference of bench/dedup.ts: MinHash and LSH in plain C, one thread, no intrinsics.
 *
 *     minhash texts.bin     (per text a 32-bit length and its bytes, little-endian)
 *
 * The work: ASCII folded, white space collapsed, 3-word shingles, a fast similarity sketch of 256
 * values, 64 bands of 4, candidates whose estimate reaches .65, exact Jaccard of at least .75 from
 * sorted sets, groups by union-find. Reading the file is not counted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUES = 256, BANDS = 64, ROWS = VALUES / BANDS, FREE_ROUNDS = 254 };

typedef struct {
  uint32_t *set;
  uint32_t size;
  uint32_t bands[BANDS];
  uint8_t low[VALUES];
} Document;

typedef struct {
  uint32_t key, document;
} Entry;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static int is_space(uint8_t byte) { return byte == ' ' || (byte >= 9 && byte <= 13); }

/* Hashes of all windows of three words; how many. */
static uint32_t shingles(const uint8_t *text, uint32_t length, uint32_t *out) {
  const uint64_t prime = 0x100000001b3ull, window = 0xff51afd7ed558ccdull;
  uint64_t last[3] = {0, 0, 0};
  uint32_t words = 0, count = 0, at = 0;
  while (at < length) {
    while (at < length && is_space(text[at])) at++;
    if (at == length) break;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; at < length && !is_space(text[at]); at++) {
      uint8_t byte = text[at];
      if (byte >= 'A' && byte <= 'Z') byte |= 0x20;
      hash = (hash ^ byte) * prime;
    }
    last[0] = last[1], last[1] = last[2], last[2] = hash ^ (hash >> 32);
    if (++words < 3) continue;
    uint64_t sum = (last[0] * window + last[1]) * window + last[2];
    out[count++] = (uint32_t)(((sum ^ (sum >> 32)) * 0xd6e8feb86659fd93ull) >> 32);
  }
  return count;
}

static uint32_t spread(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

static uint32_t value_of(uint32_t hash) { return (hash * 0x9e3779b9u) >> 8; }

static void sketch(const uint32_t *set, uint32_t n, Document *document) {
  uint32_t bins[VALUES];
  memset(bins, 0xff, sizeof bins);
  uint32_t empty = VALUES;
  for (uint32_t round = 1; round <= FREE_ROUNDS && empty > 0; round++) {
    uint32_t seed = round * 0x9e3779b1u;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t h = spread(set[i] ^ seed), bin = h >> 24, value = (round << 24) | value_of(h);
      if (value < bins[bin]) {
        empty -= bins[bin] == 0xffffffffu;
        bins[bin] = value;
      }
    }
  }
  for (uint32_t bin = 0; bin < VALUES && empty > 0; bin++) {
    if (bins[bin] != 0xffffffffu) continue;
    uint32_t least = 0xffffffffu, seed = (FREE_ROUNDS + 1 + bin) * 0x9e3779b1u;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t value = value_of(spread(set[i] ^ seed));
      if (value < least) least = value;
    }
    bins[bin] = least | 0xff000000u;
  }
  for (uint32_t band = 0; band < BANDS; band++) {
    uint64_t key = 0xff51afd7ed558ccdull;
    for (uint32_t row = 0; row < ROWS; row++) {
      key = (key ^ bins[band * ROWS + row]) * 0xff51afd7ed558ccdull;
      key ^= key >> 32;
    }
    document->bands[band] = (uint32_t)key;
  }
  for (uint32_t i = 0; i < VALUES; i++) document->low[i] = (uint8_t)bins[i];
}

static void radix_sort(uint32_t *values, uint32_t *scratch, uint32_t n) {
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    uint32_t starts[257] = {0};
    for (uint32_t i = 0; i < n; i++) starts[((values[i] >> shift) & 255) + 1]++;
    for (uint32_t i = 0; i < 256; i++) starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < n; i++) scratch[starts[(values[i] >> shift) & 255]++] = values[i];
    uint32_t *other = values;
    values = scratch;
    scratch = other;
  }
}

static uint32_t distinct(uint32_t *values, uint32_t n) {
  uint32_t kept = n > 0;
  for (uint32_t i = 1; i < n; i++)
    if (values[i] != values[kept - 1]) values[kept++] = values[i];
  return kept;
}

static int by_key(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->document < y->document ? -1 : x->document > y->document;
}

static double jaccard(const Document *a, const Document *b) {
  uint32_t common = 0, i = 0, j = 0;
  while (i < a->size && j < b->size) {
    uint32_t x = a->set[i], y = b->set[j];
    common += x == y;
    i += x <= y;
    j += y <= x;
  }
  return (double)common / (a->size + b->size - common);
}

static uint32_t root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  FILE *file = fopen(arguments[1], "rb");
  if (!file) return 1;
  fseek(file, 0, SEEK_END);
  size_t bytes = (size_t)ftell(file);
  rewind(file);
  uint8_t *data = malloc(bytes);
  if (fread(data, 1, bytes, file) != bytes) return 1;
  double start = cpu_seconds();

  uint32_t documents = 0, longest = 0;
  for (size_t at = 0; at < bytes;) {
    uint32_t length;
    memcpy(&length, data + at, 4);
    if (length > longest) longest = length;
    at += 4 + length;
    documents++;
  }
  Document *all = calloc(documents, sizeof *all);
  uint32_t *found = malloc(4 * (longest + 1)), *scratch = malloc(4 * (longest + 1));
  size_t at = 0;
  for (uint32_t i = 0; i < documents; i++) {
    uint32_t length;
    memcpy(&length, data + at, 4);
    uint32_t n = shingles(data + at + 4, length, found);
    at += 4 + length;
    radix_sort(found, scratch, n);
    n = distinct(found, n);
    all[i].size = n;
    if (n == 0) continue;
    sketch(found, n, &all[i]);
    all[i].set = malloc(4 * n);
    memcpy(all[i].set, found, 4 * n);
  }
  double signed_at = cpu_seconds();

  uint32_t *parent = malloc(4 * documents);
  for (uint32_t i = 0; i < documents; i++) parent[i] = i;
  Entry *entries = malloc(documents * sizeof *entries);
  uint64_t candidates = 0, pairs = 0;
  for (uint32_t band = 0; band < BANDS; band++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < documents; i++)
      if (all[i].size > 0) entries[n++] = (Entry){all[i].bands[band], i};
    qsort(entries, n, sizeof *entries, by_key);
    for (uint32_t from = 0, to; from < n; from = to) {
      for (to = from + 1; to < n && entries[to].key == entries[from].key;) to++;
      for (uint32_t i = from; i < to; i++)
        for (uint32_t j = i + 1; j < to; j++) {
          const Document *a = &all[entries[i].document], *b = &all[entries[j].document];
          uint32_t earlier = 0;
          while (earlier < band && a->bands[earlier] != b->bands[earlier]) earlier++;
          if (earlier < band) continue;
          uint32_t equal = 0;
          for (uint32_t k = 0; k < VALUES; k++) equal += a->low[k] == b->low[k];
          if ((equal / 256.0 - 1 / 256.0) / (1 - 1 / 256.0) < 0.65) continue;
          candidates++;
          if (jaccard(a, b) < 0.75) continue;
          pairs++;
          parent[root(parent, entries[i].document)] = root(parent, entries[j].document);
        }
    }
  }
  uint32_t *sizes = calloc(documents, 4), groups = 0;
  for (uint32_t i = 0; i < documents; i++) groups += ++sizes[root(parent, i)] == 2;
  double end = cpu_seconds();
  printf("{\"cpuSeconds\":%.4f,\"signSeconds\":%.4f,\"candidates\":%llu,\"pairs\":%llu,\"groups\":%u}\n",
         end - start, signed_at - start, (unsigned long long)candidates, (unsigned long long)pairs,
         groups);
  return 0;
}
