// The least that counting words, or words and pairs, can cost: one loop over the bytes, two hash
// tables, counts of every document as the rows of a sparse matrix. A word is a run of ASCII letters,
// digits, "_" and bytes from 128 on; documents end with a zero byte.
//
//     words_pairs FILE 1|2      prints JSON: bytes, entries, and CPU seconds without reading the file
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static double cpu() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

struct Words {  // open addressing; the spelling is compared
    struct Slot { uint64_t hash; uint32_t id; };
    std::vector<Slot> slots = std::vector<Slot>(1 << 16, Slot{0, UINT32_MAX});
    std::vector<char> bytes;
    std::vector<size_t> ends = {0};

    uint32_t number(uint64_t hash, const char *word, size_t length) {
        size_t mask = slots.size() - 1, at = hash & mask;
        for (; slots[at].id != UINT32_MAX; at = (at + 1) & mask) {
            const size_t begin = ends[slots[at].id], end = ends[slots[at].id + 1];
            if (slots[at].hash == hash && end - begin == length && !memcmp(&bytes[begin], word, length))
                return slots[at].id;
        }
        const uint32_t id = uint32_t(ends.size() - 1);
        slots[at] = {hash, id};
        bytes.insert(bytes.end(), word, word + length);
        ends.push_back(bytes.size());
        if (ends.size() * 2 > slots.size()) grow();
        return id;
    }

    void grow() {
        std::vector<Slot> old(slots.size() * 2, Slot{0, UINT32_MAX});
        old.swap(slots);
        const size_t mask = slots.size() - 1;
        for (const Slot &slot : old) {
            if (slot.id == UINT32_MAX) continue;
            size_t at = slot.hash & mask;
            while (slots[at].id != UINT32_MAX) at = (at + 1) & mask;
            slots[at] = slot;
        }
    }
};

struct Pairs {  // the same, of two numbers of words
    struct Slot { uint64_t pair; uint32_t id; };
    std::vector<Slot> slots = std::vector<Slot>(1 << 18, Slot{0, UINT32_MAX});
    uint32_t count = 0;

    static size_t hash(uint64_t pair) {
        pair *= 0x9E3779B97F4A7C15ull;
        return size_t(pair ^ (pair >> 29));
    }

    uint32_t number(uint32_t first, uint32_t second) {
        const uint64_t pair = (uint64_t(first) << 32) | second;
        const size_t mask = slots.size() - 1;
        size_t at = hash(pair) & mask;
        for (; slots[at].id != UINT32_MAX; at = (at + 1) & mask)
            if (slots[at].pair == pair) return slots[at].id;
        slots[at] = {pair, count};
        if (size_t(++count) * 2 > slots.size()) grow();
        return count - 1;
    }

    void grow() {
        std::vector<Slot> old(slots.size() * 2, Slot{0, UINT32_MAX});
        old.swap(slots);
        const size_t mask = slots.size() - 1;
        for (const Slot &slot : old) {
            if (slot.id == UINT32_MAX) continue;
            size_t at = hash(slot.pair) & mask;
            while (slots[at].id != UINT32_MAX) at = (at + 1) & mask;
            slots[at] = slot;
        }
    }
};

struct Row {  // counts of one document, by number
    std::vector<uint32_t> counts, seen;

    void add(uint32_t id) {
        if (id >= counts.size()) counts.resize(id * 2 + 1024, 0);
        if (counts[id]++ == 0) seen.push_back(id);
    }

    void flush(std::vector<uint32_t> &indices, std::vector<double> &values) {
        std::sort(seen.begin(), seen.end());
        for (uint32_t id : seen) {
            indices.push_back(id);
            values.push_back(counts[id]);
            counts[id] = 0;
        }
        seen.clear();
    }
};

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return 1;
    fseek(file, 0, SEEK_END);
    const size_t size = size_t(ftell(file));
    rewind(file);
    std::vector<unsigned char> text(size + 1, 0);
    if (fread(text.data(), 1, size, file) != size) return 1;
    fclose(file);

    unsigned char lower[256];
    for (int c = 0; c < 256; c++)
        lower[c] = (c >= 'A' && c <= 'Z') ? c + 32
                   : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c >= 128 || c == '_' ? c : 0;

    const bool with_pairs = atoi(argv[2]) > 1;
    const double start = cpu();
    Words words;
    Pairs pairs;
    Row one, two;
    std::vector<uint32_t> indices, pair_indices;
    std::vector<double> values, pair_values;
    std::vector<char> word(1 << 16);
    size_t documents = 0;
    uint32_t before = UINT32_MAX;
    for (size_t i = 0; i <= size; i++) {
        unsigned char c = lower[text[i]];
        if (c) {
            uint64_t hash = 1469598103934665603ull;
            size_t length = 0;
            do {
                if (length < word.size()) word[length++] = char(c);
                hash = (hash ^ c) * 1099511628211ull;
                c = lower[text[++i]];
            } while (c);
            const uint32_t id = words.number(hash ^ (hash >> 29), word.data(), length);
            one.add(id);
            if (with_pairs && before != UINT32_MAX) two.add(pairs.number(before, id));
            before = id;
        }
        if (text[i] == 0) {
            one.flush(indices, values);
            two.flush(pair_indices, pair_values);
            before = UINT32_MAX;
            documents++;
        }
    }
    printf("{\"cpu\": %.6f, \"bytes\": %zu, \"documents\": %zu, \"entries\": %zu}\n", cpu() - start, size,
           documents, indices.size() + pair_indices.size());
}
