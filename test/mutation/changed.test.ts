// The lines that a difference adds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedLines } from './changed.ts';

const diff = `diff --git a/src/domain/a.ts b/src/domain/a.ts
index 1..2 100644
--- a/src/domain/a.ts
+++ b/src/domain/a.ts
@@ -3 +3 @@ function a() {
-  return 1;
+  return 2;
@@ -9,2 +8,0 @@ function a() {
-  const b = 1;
-  b();
@@ -20,0 +19,3 @@ function c() {
+  one();
+  two();
+  three();
diff --git a/src/domain/gone.ts b/src/domain/gone.ts
--- a/src/domain/gone.ts
+++ /dev/null
@@ -1,2 +0,0 @@
-one();
-two();
diff --git a/src/shard/new.ts b/src/shard/new.ts
--- /dev/null
+++ b/src/shard/new.ts
@@ -0,0 +1,2 @@
+one();
+two();
`;

test('a line counts where it is now, and one that is gone does not', () => {
  const added = Object.fromEntries(Array.from(addedLines(diff), ([file, lines]) => [file, [...lines]]));
  assert.deepEqual(added, { 'src/domain/a.ts': [3, 19, 20, 21], 'src/shard/new.ts': [1, 2] });
  assert.equal(addedLines('').size, 0);
});
