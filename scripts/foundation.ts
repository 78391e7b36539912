// Writes the bootstrap snapshot of a cluster to a file: node foundation.mjs <file>
import { writeFileSync } from 'node:fs';
import { buildBootstrapSnapshot } from '@kruise/apiserver/bootstrap-snapshot';

const snapshot = await buildBootstrapSnapshot(() => new Promise((resolve) => setImmediate(resolve)));
writeFileSync(process.argv[2]!, JSON.stringify(snapshot));
