import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { jsonWebKeys, signJwtSync, verificationKey } from '@kruise/apiserver/authentication/jwt';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { createSimulatedNetwork, type ServiceRoutes } from './network.ts';
import { simulatedNode, testStart } from './testing/simulated-node.ts';

/** A server of this machine, and a node whose Pods reach it like the API server of their cluster. */
const name = 'kubernetes.default.svc';
const issuer = `https://${name}.cluster.local`;
const advertised = { host: '192.0.2.1', port: 6443 };
const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
// TLS checks certificates against the machine's own time.
const authority = createCertificateAuthority('test-ca', Date.now());
const serving = authority.issue({
  subject: { commonName: 'kube-apiserver' },
  usages: ['server auth'],
  hosts: [name, `${name}.cluster.local`, '10.96.0.1', advertised.host],
  nowMs: Date.now(),
});
const signer = createPrivateKey(authority.key);
const keys = [verificationKey(createPublicKey(authority.certificate))];
const expiry = testStart / 1000 + 600;
const token = signJwtSync({ iss: issuer, aud: ['someone'], exp: expiry }, signer);

let server: Server;
before(async () => {
  server = createServer({ cert: serving.certificate, key: serving.key }, ({ url = '', method, headers }, response) => {
    const pages: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `https://${advertised.host}:6443/openid/v1/jwks` },
      '/openid/v1/jwks': jsonWebKeys(keys),
    };
    if (headers.authorization !== `Bearer ${token}`) response.writeHead(401).end('who are you?\n');
    else
      response.end(pages[url] ? JSON.stringify(pages[url]) : `${method} ${headers.host}${url} ${headers['x-more']}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => server.close());

const services: ServiceRoutes = {
  route: ({ host, port }) => (host === '10.96.0.1' ? (port === 443 ? advertised : 'refuse') : undefined),
  resolve: (asked) => (asked === `${name}.cluster.local` ? ['10.96.0.1'] : []),
  records: () => [],
};

async function start(args: readonly string[] = ['pause'], files: readonly string[] = ['token', 'ca.crt']) {
  const network = createSimulatedNetwork({
    services,
    outside: ({ host, port }) =>
      host === advertised.host && port === advertised.port
        ? () => connect((server.address() as AddressInfo).port, '127.0.0.1')
        : undefined,
  });
  const node = simulatedNode({ network });
  const contents: Readonly<Record<string, string>> = { token, 'ca.crt': authority.certificate };
  await node.runtime.files.makeDirectory('/account');
  for (const file of files) await node.runtime.files.writeFile(`/account/${file}`, contents[file] ?? '');
  const sandboxId = await node.runSandbox({ dnsConfig: { searches: ['cluster.local'] } });
  const { containerId } = await node.runContainer({
    image: agnhost,
    args,
    sandboxId,
    config: {
      mounts: [{ containerPath: account, hostPath: '/account' }],
      envs: [
        { key: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1' },
        { key: 'KUBERNETES_SERVICE_PORT', value: '443' },
      ],
    },
  });
  return {
    node,
    containerId,
    /** Runs a script; returns its output and exit code. */
    async sh(script: string) {
      const { stdout, stderr, exitCode } = await node.sh(containerId, script);
      return `${stdout}${stderr}${exitCode}`;
    },
    async ended() {
      for (;;) {
        const { state, exitCode } = await node.status(containerId);
        if (state === 'CONTAINER_EXITED') return exitCode;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const bearer = `-H "Authorization: Bearer $(cat ${account}/token)"`;
const trusted = `--cacert ${account}/ca.crt`;

describe('a server outside of the simulation', () => {
  const cases = [
    ['is reached by name', `curl -s ${trusted} ${bearer} https://${name}/api`, `GET ${name}/api undefined\n0`],
    [
      'is reached by the address of its Service',
      `curl -s ${trusted} ${bearer} -H 'X-More: yes' https://$KUBERNETES_SERVICE_HOST/api`,
      'GET 10.96.0.1/api yes\n0',
    ],
    [
      'receives a request body',
      `curl -s ${trusted} ${bearer} -d '{}' https://${name}/api`,
      `POST ${name}/api undefined\n0`,
    ],
    ['requires authentication', `curl -s ${trusted} https://${name}/api`, 'who are you?\n0'],
    [
      'has a certificate that is rejected without its CA',
      `curl ${bearer} https://${name}/api`,
      'curl: (60) SSL certificate problem: unable to verify the first certificate\n60',
    ],
    [
      'is reached without certificate verification',
      `curl -sk ${bearer} https://${name}/api`,
      `GET ${name}/api undefined\n0`,
    ],
    [
      'is reached by wget, which verifies nothing',
      `wget -qO- --header "Authorization: Bearer $(cat ${account}/token)" https://${name}/api`,
      `GET ${name}/api undefined\nwget: note: TLS certificate validation not implemented\n0`,
    ],
    [
      'rejects wget without a token',
      `wget -qO- --no-check-certificate https://${name}/api`,
      'wget: server returned error: HTTP/1.1 401 Unauthorized\n1',
    ],
    ['listens only on its own port', `curl -s https://${name}:444/`, '7'],
    [
      'is the only reachable server',
      'curl -sS https://192.0.2.2/',
      'curl: (7) Failed to connect to 192.0.2.2 port 443: Connection refused\n7',
    ],
  ] as const;
  for (const [what, script, output] of cases) {
    test(what, async () => {
      const { sh } = await start();
      assert.equal(await sh(script), output);
    });
  }

  test('is polled by an in-cluster client with the current token', async () => {
    const { node, containerId } = await start(['inclusterclient', '--poll-interval=10']);
    const waitForLog = async (text: string) => {
      while (!(await node.log(containerId)).includes(text)) await node.advance(10_000);
    };
    await waitForLog('authz_header=');
    await node.runtime.files.writeFile('/account/token', 'another');
    await waitForLog('who are you?');
    assert.match(
      await node.log(containerId),
      /calling \/healthz\n.*status=failed\n.*error checking \/healthz: who are you\?/s,
    );
  });

  test('is found by issuer discovery, which verifies the token', async () => {
    const discovery = (audience: string) => [
      'test-service-account-issuer-discovery',
      '--token-path',
      `${account}/token`,
      '--audience',
      audience,
    ];
    const good = await start(discovery('someone'));
    assert.equal(await good.ended(), 0);
    assert.match(await good.node.log(good.containerId), /OK: Got valid claims from token!/);
    const wrong = await start(discovery('someone-else'));
    assert.equal(await wrong.ended(), 1);
    assert.match(await wrong.node.log(wrong.containerId), /oidc: expected audience "someone-else" got \["someone"\]/);
    const none = await start(discovery('someone'), ['ca.crt']);
    assert.equal(await none.ended(), 1);
    assert.match(await none.node.log(none.containerId), /open .*\/token: no such file or directory/);
  });
});
