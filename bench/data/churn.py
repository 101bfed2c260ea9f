# SPDX-License-Identifier: MIT
# Objects that come and go: dictionaries, lists, strings, instances. ROUNDS is set in front.


class Node:
    __slots__ = ("key", "value", "next")

    def __init__(self, key, value, following):
        self.key = key
        self.value = value
        self.next = following


def words(n):
    text = " ".join("word%d" % (i * 7919 % 1000) for i in range(n))
    count = {}
    for word in text.split(" "):
        count[word] = count.get(word, 0) + 1
    return len(count)


def chain(n):
    head = None
    for i in range(n):
        head = Node("key %d" % i, [i, float(i)], head)
    total = 0
    while head is not None:
        total += len(head.key) + head.value[0]
        head = head.next
    return total


def table(n):
    rows = [{"id": i, "name": "n%d" % i, "tags": (i, i + 1, str(i))} for i in range(n)]
    rows.sort(key=lambda row: row["name"])
    kept = [row for row in rows if row["id"] % 3 == 0]
    return sum(row["tags"][0] for row in kept)


total = 0
for _ in range(ROUNDS):
    total += words(8000) + chain(8000) + table(4000)
print(total)
