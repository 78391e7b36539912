/** `node examples/website/main.ts <address of this machine>`, with `tls.crt`, `tls.key` and `ca.crt` beside it. */
import { readFileSync } from 'node:fs';
import { connect } from '@kruise/client/connect';
import { run } from '@kruise/client/run';
import { serveWebhooks } from '@kruise/client/webhook-server';
import { systemClock } from '@kruise/values/system';
import { websiteController } from './controller.ts';
import { install } from './install.ts';
import { webhooks } from './webhook.ts';

const file = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const { client, close } = connect(systemClock);
const server = await serveWebhooks(systemClock, {
  webhooks,
  certificate: () => ({ certificate: file('tls.crt'), key: file('tls.key') }),
});
await install(client, { url: `https://${process.argv[2] ?? 'localhost'}:${server.port}`, caBundle: file('ca.crt') });
close();
await run([websiteController], { leaderElection: { name: 'website-controller' }, healthPort: 8080 });
await server.close();
