import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { asRoot } from '../conformance/as-root.ts';
import { mountMemory, mountsBelow, unmountBelow } from './mounts.ts';

asRoot('File systems in memory', () => {
  const cases = [
    { title: 'of a size', options: { mode: 0o1777, sizeBytes: 1_048_576 }, shown: /tmpfs .*size=1024k/ },
    { title: 'without a size', options: { mode: 0o755 }, shown: /tmpfs .*mode=755/ },
    { title: 'of huge pages', options: { mode: 0o1777, hugePages: '2Mi' }, shown: /hugetlbfs .*pagesize=2M/ },
  ];
  for (const { title, options, shown } of cases) {
    test(`${title} are mounted once, and unmounted without a trace`, async () => {
      const base = await mkdtemp(join(tmpdir(), 'kruise-mounts-'));
      try {
        const path = join(base, 'volumes/v');
        await mountMemory(path, options);
        await mountMemory(path, options);
        assert.deepEqual(await mountsBelow(base), [path]);
        const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(path));
        assert.match(lines.join(), shown);
        await unmountBelow(base);
        await unmountBelow(base);
        assert.deepEqual(await mountsBelow(base), []);
      } finally {
        await unmountBelow(base);
        await rm(base, { recursive: true });
      }
    });
  }
});
