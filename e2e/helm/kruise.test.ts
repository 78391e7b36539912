/**
 * The chart of Kruise with the real Helm. Its Pods are simulated; a manager with exactly the permissions of the chart
 * takes their place.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { secret } from '@kruise/api/core/secret';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import type { ClusterConnection } from '@kruise/client/connect';
import { parseYaml } from '@kruise/schema/yaml-text';
import {
  bundledProgram,
  type Cluster,
  freshEnvironment,
  hasTool,
  type Outcome,
  run,
  startCluster,
  temporaryHome,
} from '../cluster.ts';
import { managersOf } from '../manager-processes.ts';
import { until } from '../states.ts';

const chart = fileURLToPath(new URL('../../charts/kruise', import.meta.url));
if (hasTool('helm', 'the chart of Kruise')) {
  describe('the rendered chart of Kruise', testTemplates);
  describe('the chart of Kruise on a cluster', testCluster);
}

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
  readonly rules: readonly { readonly apiGroups: readonly string[]; readonly resources: readonly string[] }[];
  readonly webhooks: readonly {
    readonly name: string;
    readonly timeoutSeconds: number;
    readonly namespaceSelector?: { readonly matchExpressions: readonly { readonly key: string }[] };
  }[];
};

type PodSpec = {
  readonly volumes?: readonly { readonly name: string }[];
  readonly containers: readonly {
    readonly args?: readonly string[];
    readonly securityContext?: { readonly runAsUser?: number };
    readonly volumeMounts?: readonly { readonly name: string }[];
  }[];
};

function manifestsIn(text: string): readonly Manifest[] {
  return text.split(/^---$/m).flatMap((part) => {
    // Helm writes either an empty document or a manifest between two separators.
    const manifest = parseYaml(part) as Manifest | null;
    return manifest?.kind ? [manifest] : [];
  });
}

function testTemplates(): void {
  const home = temporaryHome();
  after(() => rmSync(home, { recursive: true }));
  const helm = (...args: readonly string[]): Promise<Outcome> => run('helm', args, { env: freshEnvironment(home) });

  async function rendered(...args: readonly string[]): Promise<readonly Manifest[]> {
    const { code, stdout, stderr } = await helm('template', 'kruise', chart, ...args);
    assert.equal(code, 0, stderr);
    return manifestsIn(stdout);
  }
  const names = (manifests: readonly Manifest[], kind: string) =>
    manifests.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
  const webhooks = (manifests: readonly Manifest[]) => manifests.flatMap((each) => each.webhooks ?? []);

  test('helm lint reports nothing', async () => {
    const { code, stdout } = await helm('lint', '--strict', chart);
    assert.equal(code, 0, stdout);
  });

  test('every container drops unneeded privileges', async () => {
    const all = (await rendered()).flatMap(({ kind, metadata, spec }) =>
      (spec?.template?.spec?.containers ?? []).map(({ securityContext }) => ({
        workload: `${kind} ${metadata.name}`,
        securityContext,
      })),
    );
    assert.equal(all.length, 3);
    for (const { workload, securityContext } of all) {
      const isDaemon = workload === 'DaemonSet kruise-daemon';
      assert.deepEqual(
        securityContext,
        {
          ...(isDaemon
            ? { runAsUser: 0, runAsNonRoot: false }
            : { runAsNonRoot: true, runAsUser: 65534, runAsGroup: 65534 }),
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
        workload,
      );
    }
  });

  test('webhooks reject clients without a certificate of the configured CA', async () => {
    const values = ['manager.webhook.callersSecret=callers', 'manager.webhook.allowedNames={kube-apiserver}'];
    const all = await rendered(...values.flatMap((each) => ['--set', each]));
    const { template } = all.find(({ kind }) => kind === 'Deployment')!.spec;
    const [manager] = template.spec.containers;
    assert.ok(manager?.args?.includes('--webhook-client-ca-file=/webhook-callers/ca.crt'));
    assert.ok(manager?.args?.includes('--webhook-client-allowed-names=kube-apiserver'));
    assert.ok(manager?.volumeMounts?.some(({ name }) => name === 'webhook-callers'));
    assert.ok(template.spec.volumes?.some(({ name }) => name === 'webhook-callers'));
  });

  test('the chart renders every object', async () => {
    const all = await rendered();
    const count = Map.groupBy(all, ({ kind }) => kind);
    const counts = Object.fromEntries([...count].map(([kind, { length }]) => [kind, length]));
    assert.deepEqual(counts, {
      Namespace: 2,
      ServiceAccount: 3,
      Secret: 1,
      CustomResourceDefinition: 18,
      ClusterRole: 7,
      ClusterRoleBinding: 4,
      Role: 3,
      RoleBinding: 3,
      Service: 1,
      DaemonSet: 1,
      Deployment: 1,
      Job: 1,
      MutatingWebhookConfiguration: 1,
      ValidatingWebhookConfiguration: 1,
    });
    assert.ok(webhooks(all).every(({ timeoutSeconds }) => timeoutSeconds === 30));
  });

  test('all objects are in the configured namespace', async () => {
    const all = await rendered('--set=installation.namespace=elsewhere,installation.createNamespace=false');
    const places = new Set(all.flatMap(({ metadata }) => metadata.namespace ?? []));
    assert.deepEqual([...places].sort(), ['elsewhere', 'kruise-daemon-config']);
    assert.deepEqual(names(all, 'Namespace'), ['kruise-daemon-config']);
    assert.ok(!JSON.stringify(all).includes('kruise-system'));
  });

  test('external certificates are neither generated nor distributed', async () => {
    const annotation = 'externalCerts.annotations.cert-manager\\.io/inject-ca-from=kruise-system/certs';
    const all = await rendered('--set=featureGates=EnableExternalCerts=true', `--set=${annotation}`);
    assert.deepEqual(names(all, 'Secret'), []);
    assert.ok(!names(all, 'ClusterRole').includes('kruise-certs-role'));
    const annotated = all.filter(({ metadata }) => JSON.stringify(metadata.annotations ?? {}).includes('inject-ca'));
    assert.equal(annotated.length, 2 + 10, 'both configurations, and the definitions that are converted');
    assert.deepEqual(names(await rendered('--set=featureGates=AllAlpha=true'), 'Secret'), []);
  });

  test('feature gates control the daemon, the Pod webhooks and access to storage classes', async () => {
    assert.deepEqual(names(await rendered('--set=featureGates=KruiseDaemon=false'), 'DaemonSet'), []);
    const ofPods = async (...args: readonly string[]) =>
      webhooks(await rendered(...args)).filter(({ name }) => name.includes('pod.kb') || name.includes('eviction'));
    assert.notEqual((await ofPods()).length, 0);
    assert.deepEqual(await ofPods('--set=featureGates=PodWebhook=false'), []);
    const readsClasses = async (...args: readonly string[]) =>
      (await rendered(...args)).some(({ rules = [] }) =>
        rules.some((rule) => rule.resources.includes('storageclasses')),
      );
    assert.equal(await readsClasses(), false);
    assert.equal(await readsClasses('--set=featureGates=StatefulSetAutoResizePVCGate=true'), true);
  });

  test('values are applied', async () => {
    const all = await rendered(
      '--kube-version=1.33.0',
      ...['--set=manager.hostNetwork=true', '--set=manager.nodeSelector.disk=ssd', '--set=daemon.socketFile=x.sock'],
      ...['--set=daemon.credentialProvider.enable=true', '--set=daemon.credentialProvider.awsCredentialsDir=/aws'],
      ...['--set=installation.roleListGroups={apps}', '--set=webhookConfiguration.aksIntegration=true'],
      ...['--set=imagePullSecrets[0].name=regcred', '--set=crds.managed=false', '--set=unknown=value'],
      ...['--set=serviceAccount.annotations.role=arn', '--set=enableKubeCacheMutationDetector=true'],
    );
    assert.deepEqual(names(all, 'CustomResourceDefinition'), []);
    const [manager, daemon] = ['Deployment', 'DaemonSet'].map((kind) => {
      const found = all.find((each) => each.kind === kind);
      return JSON.stringify(found?.spec.template.spec);
    });
    for (const text of ['"hostNetwork":true', '"disk":"ssd"', '"regcred"', 'MUTATION', 'pod-template-hash']) {
      assert.ok(manager?.includes(text), text);
    }
    for (const text of ['--socket-file=x.sock', '/.aws"', '"/aws"', '--plugin-bin-dir', '"regcred"', 'MUTATION']) {
      assert.ok(daemon?.includes(text), text);
    }
    const lists = all.flatMap(({ rules = [] }) => rules).find(({ resources }) => resources[0] === '*');
    assert.deepEqual(lists?.apiGroups, ['apps']);
    const isOutsideAzure = webhooks(all).every(({ namespaceSelector }) =>
      namespaceSelector?.matchExpressions.some(({ key }) => key === 'kubernetes.azure.com/managedby'),
    );
    assert.ok(isOutsideAzure);
    assert.equal(all.filter(({ metadata }) => JSON.stringify(metadata.annotations ?? {}).includes('arn')).length, 2);
    const old = (await rendered('--kube-version=1.26.0')).find(({ kind }) => kind === 'Deployment');
    assert.ok(!JSON.stringify(old).includes('matchLabelKeys'));
  });
}

const place = { namespace: 'kruise-system', name: 'kruise-webhook-certs' };
const workload = { namespace: 'default', name: 'web' };

function testCluster(): void {
  const home = temporaryHome();
  const ends: (() => unknown)[] = [];
  let cluster: Cluster;
  let program: string;
  let connected: ClusterConnection;
  before(async () => {
    program = await bundledProgram();
    cluster = await startCluster(home, ['--without', 'manager', 'daemon'], { program });
    connected = cluster.connect();
    // Other clusters have no CRDs of Kruise.
    await runCommand('kubectl', 'delete', 'customresourcedefinitions', '--all');
    await runCommand('kubectl', 'create', 'namespace', 'releases');
  });
  after(async () => {
    for (const end of ends) end();
    connected.close();
    await cluster.stop();
    rmSync(home, { recursive: true });
  });

  async function runCommand(command: string, ...args: readonly string[]): Promise<string> {
    const env = { ...freshEnvironment(home), KUBECONFIG: cluster.kubeconfig };
    const { code, stdout, stderr } = await run(command, args, { env });
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const helm = (...args: readonly string[]) => runCommand('helm', ...args, '--namespace=releases');
  const everywhere = 'clusterroles,clusterrolebindings,namespaces,customresourcedefinitions';
  // The image of the pre-delete hook is not simulated; this one succeeds.
  const values = ['--set=helmHooks.image.repository=busybox,helmHooks.image.tag=1.37'];
  const vouchedFor = () =>
    until(connected.client, mutatingWebhookConfiguration, (all) =>
      all.some(({ metadata, webhooks = [] }) => {
        const isKept = metadata.annotations?.['template'];
        return isKept && webhooks.length > 0 && webhooks.every(({ clientConfig }) => clientConfig.caBundle);
      }),
    );

  test('an installation becomes ready, and the permissions of the chart suffice', async () => {
    const { client } = connected;
    const text = await helm('install', 'kruise', chart, '--wait', '--timeout=5m', ...values);
    assert.match(text, /STATUS: deployed[\s\S]*kruise-manager v0\.1\.0 is starting in kruise-system/);
    // Its Pods are simulated: from now on a real manager takes their place.
    await helm('upgrade', 'kruise', chart, '--wait', '--set=manager.replicas=0', ...values);
    await until(client, endpointSlice, (all) => {
      const ofWebhooks = all.filter(({ metadata }) => metadata.namespace === 'kruise-system');
      return ofWebhooks.length > 0 && ofWebhooks.every(({ endpoints }) => !endpoints?.length);
    });
    const start = await managersOf(
      { after: (end) => ends.push(end as () => unknown) },
      { home, cluster, program, client },
    );
    await start('manager');
    await vouchedFor();
    const labels = { app: 'web' };
    await client.create(cloneSet, {
      metadata: workload,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:1.28' }] } },
      },
    });
    await until(client, cloneSet, (all) => all.some(({ status }) => status?.readyReplicas === 2));
  });

  test('an upgrade keeps the certificates, and the manager publishes them again', async () => {
    const { client } = connected;
    const before = await client.get(secret, place);
    assert.ok(before.data?.['ca-cert.pem'], Object.keys(before.data ?? {}).join());
    const gates = 'featureGates=ImagePullJobGate=true\\,KruiseDaemon=false';
    await helm('upgrade', 'kruise', chart, '--wait', '--set=manager.replicas=0', `--set=${gates}`, ...values);
    assert.deepEqual((await client.get(secret, place)).data, before.data);
    await vouchedFor();
    assert.equal(await runCommand('kubectl', 'get', 'daemonsets', '-n=kruise-system', '-o=name'), '');
  });

  test('uninstall deletes all objects', async () => {
    const { client } = connected;
    await client.delete(cloneSet, workload);
    await until(client, cloneSet, (all) => all.length === 0);
    const brought = new Set(manifestsIn(await helm('get', 'manifest', 'kruise')).map(({ metadata }) => metadata.name));
    assert.ok(brought.has('kruise-manager-role') && brought.has('clonesets.apps.kruise.io'));
    assert.match(await helm('uninstall', 'kruise', '--wait', '--timeout=5m'), /release "kruise" uninstalled/);
    const left = (await runCommand('kubectl', 'get', everywhere, '-o=name')).split('\n');
    assert.deepEqual(
      left.filter((line) => brought.has(line.split('/').at(-1)!)),
      [],
    );
  });
}
