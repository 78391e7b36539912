// Fuzzes a kubelet's HTTPS server: node scripts/fuzz-kubelet.ts [count] [seed]
import { fuzzKubelet } from '@kruise/node/kubelet/server/testing/fuzz';

const [count = '100000', seed = String(Date.now())] = process.argv.slice(2);
const { failures, breaches, ...figures } = await fuzzKubelet({ count: Number(count), seed });
console.log(JSON.stringify({ seed, ...figures, failures: failures.length, breaches: breaches.length }, null, 2));
for (const each of [...failures, ...breaches].slice(0, 50)) console.log(each);
process.exitCode = failures.length + breaches.length > 0 ? 1 : 0;
