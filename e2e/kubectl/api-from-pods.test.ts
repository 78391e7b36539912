/** The API server and Pods: Pods that send requests to it, and Pods that serve an aggregated API. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { hasTool } from '../cluster.ts';
import { type Kubectl, startKubectl } from './kubectl.ts';

const authority = createCertificateAuthority('wardle-ca', Date.now());
const serving = authority.issue({
  subject: { commonName: 'wardle' },
  usages: ['server auth'],
  hosts: ['wardle.extensions.svc'],
  nowMs: Date.now(),
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** An extension API server, set up as in the Kubernetes documentation. */
const extension = `
apiVersion: v1
kind: Namespace
metadata: { name: extensions }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: wardle-auth-reader, namespace: kube-system }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader }
subjects: [{ kind: ServiceAccount, name: default, namespace: extensions }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: wardle-auth-delegator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'system:auth-delegator' }
subjects: [{ kind: ServiceAccount, name: default, namespace: extensions }]
---
apiVersion: v1
kind: Secret
metadata: { name: wardle, namespace: extensions }
type: kubernetes.io/tls
data: { tls.crt: ${base64(serving.certificate)}, tls.key: ${base64(serving.key)} }
---
apiVersion: v1
kind: Pod
metadata: { name: wardle, namespace: extensions, labels: { app: wardle } }
spec:
  containers:
    - name: wardle
      image: registry.k8s.io/e2e-test-images/sample-apiserver:1.29.2
      args: [--tls-cert-file=/certificates/tls.crt, --tls-private-key-file=/certificates/tls.key]
      volumeMounts: [{ name: certificates, mountPath: /certificates }]
      readinessProbe: { httpGet: { scheme: HTTPS, port: 443, path: /readyz }, periodSeconds: 1 }
  volumes: [{ name: certificates, secret: { secretName: wardle } }]
---
apiVersion: v1
kind: Service
metadata: { name: wardle, namespace: extensions }
spec: { selector: { app: wardle }, ports: [{ port: 443 }] }
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: { name: v1alpha1.wardle.example.com }
spec:
  group: wardle.example.com
  version: v1alpha1
  service: { namespace: extensions, name: wardle }
  caBundle: ${base64(authority.certificate)}
  groupPriorityMinimum: 2000
  versionPriority: 10
`;

const flunder = `
apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata: { name: first, labels: { colour: red } }
spec: { reference: second }
`;

if (hasTool('kubectl', 'kubectl')) {
  describe('the API server and Pods', { concurrency: true }, () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl('up');
      await until(async () => (await kubectl.run('get serviceaccount default')).code === 0);
    });
    after(() => kubectl.close());

    test('a Pod has the permissions of its service account', async () => {
      await kubectl.ok('run client --image=curlimages/curl --command -- sleep infinity');
      await kubectl.ok('wait --for=condition=Ready pod/client --timeout=60s');
      const account = '/var/run/secrets/kubernetes.io/serviceaccount';
      const ask = (more: string, path: string) =>
        kubectl.run([
          ...'exec client -- sh -c'.split(' '),
          `curl -sS ${more} -H "Authorization: Bearer $(cat ${account}/token)" https://kubernetes.default.svc${path}`,
        ]);
      const trusting = `--cacert ${account}/ca.crt`;
      const pods = '/api/v1/namespaces/default/pods';

      const forbidden = JSON.parse((await ask(trusting, pods)).stdout);
      assert.equal(
        forbidden.message,
        'pods is forbidden: User "system:serviceaccount:default:default" cannot list resource "pods" in API group "" in the namespace "default"',
      );
      await kubectl.ok('create rolebinding view --clusterrole=view --serviceaccount=default:default');
      const { kind, items } = JSON.parse((await ask(trusting, pods)).stdout);
      assert.equal(kind, 'PodList');
      assert.ok(items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === 'client'));

      const { stderr } = await ask('', pods);
      assert.match(stderr, /^curl: \(60\) SSL certificate problem/);
      const { stdout } = await kubectl.run('exec client -- curl -sk https://kubernetes.default.svc/version');
      assert.equal(JSON.parse(stdout).major, '1');
    });

    test('a Pod serves an aggregated API group through the API server', async () => {
      await kubectl.ok('apply -f -', extension);
      await kubectl.ok('wait --for=condition=Available apiservice/v1alpha1.wardle.example.com --timeout=60s');
      await kubectl.ok('apply -f -', flunder);
      assert.equal(await kubectl.ok('get flunders -l colour=red -o name'), 'flunder.wardle.example.com/first\n');
      assert.equal(await kubectl.ok('get flunder first -o jsonpath={.spec.reference}'), 'second');
      assert.match(await kubectl.ok('api-resources --api-group=wardle.example.com -o name'), /^fischers.*\nflunders/);
      const stranger = await kubectl.fails('get flunders --as=stranger');
      assert.match(stranger, /User "stranger" cannot list resource "flunders" in API group "wardle.example.com"/);
      await kubectl.ok('delete flunder first');

      await kubectl.ok('delete pod wardle -n extensions --now');
      await until(async () =>
        (await kubectl.ok('get apiservice v1alpha1.wardle.example.com')).includes('False (MissingEndpoints)'),
      );
      assert.match(await kubectl.fails('get flunders'), /service unavailable|unable to handle the request/);
      await kubectl.ok('delete apiservice v1alpha1.wardle.example.com');
    });
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'it never came to that');
    await sleep(100);
  }
}
