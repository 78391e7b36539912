// Writes what the first start of every cluster stores into a file: node foundation.mjs <file>
import { writeFileSync } from 'node:fs';
import { makeFoundation } from '@kruise/apiserver/foundation';

const foundation = await makeFoundation(() => new Promise((resolve) => setImmediate(resolve)));
writeFileSync(process.argv[2]!, JSON.stringify(foundation));
