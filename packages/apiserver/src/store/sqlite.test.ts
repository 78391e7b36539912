import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { manualClock } from '@kruise/client/clock';
import { openSqliteStore } from './sqlite.ts';
import { testStore } from './suite.ts';

const root = mkdtempSync(join(tmpdir(), 'kruise-store-'));
after(() => rmSync(root, { recursive: true }));
let directories = 0;
const newDirectory = () => join(root, String(directories++));

testStore({
  name: 'the SQLite store',
  async open() {
    const clock = manualClock();
    const store = await openSqliteStore({ clock, directory: newDirectory() });
    return { store, passTime: (seconds) => clock.advance(seconds * 1000) };
  },
  runs: 40,
});
