import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import { hasTool, withoutControllers } from '../cluster.ts';
import { type Kubectl, startKubectl, table } from './kubectl.ts';

const deployment = (namespace: string, replicas: number, image = 'nginx:1.27') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
  labels: {app: web}
spec:
  replicas: ${replicas}
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: nginx
        image: ${image}
        ports:
        - containerPort: 80
`;
const settings = (namespace: string, data: string) =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: ${namespace}}, data: {${data}}}\n`;

if (hasTool('kubectl', 'what kubectl makes of the API server')) {
  describe('kubectl', () => {
    let kubectl: Kubectl;
    let spaces = 0;
    before(async () => {
      kubectl = await startKubectl('up', withoutControllers);
    });
    after(() => kubectl.close());

    async function space(): Promise<string> {
      const name = `test-${++spaces}`;
      await kubectl.ok(`create namespace ${name}`);
      return name;
    }

    test('version', async () => {
      const { serverVersion } = JSON.parse(await kubectl.ok('version -o json'));
      assert.deepEqual([serverVersion.major, serverVersion.minor], ['1', '33']);
      assert.match(serverVersion.gitVersion, /^v1\.33\.4/);
      assert.match(await kubectl.ok('version'), /^Server Version: v1\.33\.4/m);
    });

    test('cluster-info', async () => {
      const { stdout } = await kubectl.run('cluster-info', { env: { TERM: 'dumb' } });
      assert.match(
        stdout.replace(/\x1b\[[\d;]*m/g, ''),
        /^Kubernetes control plane is running at https:\/\/127\.0\.0\.1:\d+\n/,
      );
    });

    test('api-versions', async () => {
      const versions = (await kubectl.ok('api-versions')).trimEnd().split('\n');
      assert.deepEqual(versions, versions.toSorted());
      for (const version of ['v1', 'apps/v1', 'batch/v1', 'rbac.authorization.k8s.io/v1', 'apps.kruise.io/v1beta1']) {
        assert.ok(versions.includes(version), version);
      }
    });

    test('api-resources', async () => {
      const lines = table(await kubectl.ok('api-resources')).split('\n');
      assert.equal(lines[0], 'NAME  SHORTNAMES  APIVERSION  NAMESPACED  KIND');
      for (const line of [
        'pods  po  v1  true  Pod',
        'deployments  deploy  apps/v1  true  Deployment',
        'customresourcedefinitions  crd,crds  apiextensions.k8s.io/v1  false  CustomResourceDefinition',
        'clonesets  clone  apps.kruise.io/v1beta1  true  CloneSet',
      ]) {
        assert.ok(lines.includes(line), line);
      }
      assert.equal(
        await kubectl.ok('api-resources --api-group=apps -o name --sort-by=name --cached=true'),
        'controllerrevisions.apps\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps\n',
      );
      assert.match(
        table(await kubectl.ok('api-resources --categories=all')),
        /^cronjobs {2}cj {2}batch\/v1 {2}true {2}CronJob$/m,
      );
    });

    test('explain', async () => {
      assert.match(
        await kubectl.ok('explain deployments.spec.replicas'),
        /^GROUP: {6}apps\nKIND: {7}Deployment\nVERSION: {4}v1\n\nFIELD: replicas <integer>\n/,
      );
      const recursive = await kubectl.ok('explain pod --recursive');
      assert.match(recursive, /^KIND: {7}Pod\nVERSION: {4}v1\n/);
      assert.match(recursive, /^ {8}containerPort\t<integer> -required-$/m);
      assert.match(
        await kubectl.ok('explain cloneset.spec.updateStrategy --recursive --api-version=apps.kruise.io/v1alpha1'),
        /^ {2}partition\t<.*>$/m,
      );
      assert.match(
        await kubectl.ok('explain clonesets --api-version=apps.kruise.io/v1alpha1'),
        /^GROUP: {6}apps\.kruise\.io\nKIND: {7}CloneSet\nVERSION: {4}v1alpha1\n/,
      );
      assert.match(await kubectl.fails('explain pod.spec.bogus'), /^error: field "bogus" does not exist\n$/);
    });

    test('get, in every form', async () => {
      const ns = await space();
      await kubectl.ok(`create configmap a -n ${ns} --from-literal=key=value`);
      await kubectl.ok(`create configmap b -n ${ns} --from-literal=key=other --from-literal=more=1`);
      assert.equal(table(await kubectl.ok(`get configmaps -n ${ns}`)), 'NAME  DATA  AGE\na  1  AGE\nb  2  AGE');
      assert.equal(table(await kubectl.ok(`get cm/a -n ${ns} -o wide --no-headers`)), 'a  1  AGE');
      assert.equal(await kubectl.ok(`get cm -n ${ns} -o name`), 'configmap/a\nconfigmap/b\n');
      assert.equal(await kubectl.ok(`get cm a -n ${ns} -o jsonpath={.data.key}`), 'value');
      assert.equal(await kubectl.ok(`get cm -n ${ns} -o jsonpath={.items[*].data.key}`), 'value other');
      assert.equal(
        await kubectl.ok(`get cm -n ${ns} -o custom-columns=NAME:.metadata.name,KEY:.data.key,MORE:.data.more`),
        'NAME   KEY     MORE\na      value   <none>\nb      other   1\n',
      );
      assert.equal(
        await kubectl.ok(['get', 'cm', '-n', ns, '-o', 'go-template={{range .items}}{{.metadata.name}};{{end}}']),
        'a;b;',
      );
      const { metadata, ...rest } = JSON.parse(await kubectl.ok(`get cm a -n ${ns} -o json`));
      assert.deepEqual(rest, { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'value' } });
      assert.deepEqual(Object.keys(metadata), ['creationTimestamp', 'name', 'namespace', 'resourceVersion', 'uid']);
      assert.match(
        await kubectl.ok(`get cm a -n ${ns} -o yaml`),
        new RegExp(
          `^apiVersion: v1\\ndata:\\n  key: value\\nkind: ConfigMap\\nmetadata:\\n  creationTimestamp: ".*Z"\\n  name: a\\n  namespace: ${ns}\\n  resourceVersion: "\\d+"\\n  uid: .*\\n$`,
        ),
      );
      assert.match(await kubectl.ok(`get cm a -n ${ns} -o yaml --show-managed-fields`), /manager: kubectl-create\n/);
      assert.equal(
        table(await kubectl.ok(`get cm -n ${ns} -L none --show-labels`)),
        'NAME  DATA  AGE  NONE  LABELS\na  1  AGE  <none>\nb  2  AGE  <none>',
      );
      assert.equal(await kubectl.ok(`get cm -n ${ns} --sort-by=.data.key -o name`), 'configmap/b\nconfigmap/a\n');
      assert.equal(await kubectl.ok(`get cm -n ${ns} --field-selector metadata.name=b -o name`), 'configmap/b\n');
      const { stderr } = await kubectl.run(`get secrets -n ${ns}`);
      assert.equal(stderr, `No resources found in ${ns} namespace.\n`);
      assert.equal(
        await kubectl.fails(`get cm none -n ${ns}`),
        'Error from server (NotFound): configmaps "none" not found\n',
      );
      assert.equal(await kubectl.fails('get bogus'), 'error: the server doesn\'t have a resource type "bogus"\n');
      assert.match(await kubectl.ok(['get', '--raw', '/readyz']), /^ok/);
    });

    test('get --chunk-size', async () => {
      const ns = await space();
      const list = [1, 2, 3, 4, 5].map(
        (n) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: c${n}, namespace: ${ns}}}`,
      );
      await kubectl.ok('create -f -', list.join('\n---\n'));
      const { stdout, stderr } = await kubectl.run(`get cm -n ${ns} --chunk-size=2 -o name -v=6`);
      assert.equal(stdout, 'configmap/c1\nconfigmap/c2\nconfigmap/c3\nconfigmap/c4\nconfigmap/c5\n');
      assert.equal(stderr.match(/limit=2/g)?.length, 3);
    });

    test('get --watch', async () => {
      const ns = await space();
      await kubectl.ok(`create configmap a -n ${ns} --from-literal=x=1`);
      const watch = kubectl.begin(`get cm -n ${ns} --watch --output-watch-events`);
      await watch.until('ADDED');
      await kubectl.ok(['patch', 'cm', 'a', '-n', ns, '-p', '{"data":{"y":"2"}}']);
      await watch.until('MODIFIED');
      await kubectl.ok(`delete cm a -n ${ns}`);
      await watch.until('DELETED');
      watch.child.kill();
      assert.equal(
        table(watch.output()),
        'EVENT  NAME  DATA  AGE\nADDED  a  1  AGE\nMODIFIED  a  2  AGE\nDELETED  a  2  AGE',
      );
    });

    test('create, and what it refuses', async () => {
      const ns = await space();
      const manifest = kubectl.file('create.yaml', settings(ns, 'key: value'));
      assert.equal(await kubectl.ok(`create -f ${manifest}`), 'configmap/settings created\n');
      assert.match(
        await kubectl.fails(`create -f ${manifest}`),
        /^Error from server \(AlreadyExists\): error when creating ".*create\.yaml": configmaps "settings" already exists\n$/,
      );
      const bogus = `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ${ns}}, bogus: 1}`;
      assert.match(
        await kubectl.fails('create -f -', bogus),
        /Error from server \(BadRequest\): .*ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus"/,
      );
      const warned = await kubectl.run('create --validate=warn -f -', { input: bogus });
      assert.deepEqual([warned.stdout, warned.stderr], ['configmap/b created\n', 'Warning: unknown field "bogus"\n']);
      assert.match(
        await kubectl.fails(
          'create -f -',
          `{apiVersion: v1, kind: ConfigMap, metadata: {name: Bad, namespace: ${ns}}}`,
        ),
        /^The ConfigMap "Bad" is invalid: metadata\.name: Invalid value: "Bad": a lowercase RFC 1123 subdomain/,
      );
      assert.match(
        await kubectl.fails(`create configmap a -n none-${ns}`),
        /^error: failed to create configmap: namespaces "none-.*" not found\n$/,
      );
      for (const [command, output] of [
        [`create secret generic s -n ${ns} --from-literal=a=b`, 'secret/s created\n'],
        [`create serviceaccount sa -n ${ns}`, 'serviceaccount/sa created\n'],
        [`create deployment d -n ${ns} --image=nginx`, 'deployment.apps/d created\n'],
        [`create job j -n ${ns} --image=busybox`, 'job.batch/j created\n'],
        [`create service clusterip svc -n ${ns} --tcp=80:8080`, 'service/svc created\n'],
        [`create role r -n ${ns} --verb=get --resource=pods`, 'role.rbac.authorization.k8s.io/r created\n'],
        [
          `create rolebinding rb -n ${ns} --role=r --serviceaccount=${ns}:sa`,
          'rolebinding.rbac.authorization.k8s.io/rb created\n',
        ],
        [`create quota q -n ${ns} --hard=pods=7`, 'resourcequota/q created\n'],
        [
          `create poddisruptionbudget p -n ${ns} --selector=app=d --min-available=1`,
          'poddisruptionbudget.policy/p created\n',
        ],
        [`create ingress i -n ${ns} --rule=example.com/*=svc:80`, 'ingress.networking.k8s.io/i created\n'],
      ] as const) {
        assert.equal(await kubectl.ok(command), output);
      }
    });

    test('--dry-run=server', async () => {
      const ns = await space();
      const manifest = kubectl.file('dry.yaml', deployment(ns, 2));
      assert.equal(
        await kubectl.ok(`apply --dry-run=server -f ${manifest}`),
        'deployment.apps/web created (server dry run)\n',
      );
      const made = JSON.parse(await kubectl.ok(`create --dry-run=server -f ${manifest} -o json`));
      assert.deepEqual([made.spec.strategy.type, made.spec.template.spec.dnsPolicy], ['RollingUpdate', 'ClusterFirst']);
      assert.equal(await kubectl.ok(`get deploy -n ${ns} -o name`), '');
    });

    test('apply, diff and replace', async () => {
      const ns = await space();
      const manifest = kubectl.file('apply.yaml', deployment(ns, 2));
      assert.equal(await kubectl.ok(`apply -f ${manifest}`), 'deployment.apps/web created\n');
      assert.equal(await kubectl.ok(`apply -f ${manifest}`), 'deployment.apps/web unchanged\n');
      assert.equal((await kubectl.run(`diff -f ${manifest}`)).code, 0);
      kubectl.file('apply.yaml', deployment(ns, 3, 'nginx:1.28'));
      const { code, stdout } = await kubectl.run(`diff -f ${manifest}`);
      assert.equal(code, 1);
      assert.match(stdout, /^- {2}replicas: 2\n\+ {2}replicas: 3$/m);
      assert.match(stdout, /^- {6}- image: nginx:1\.27\n\+ {6}- image: nginx:1\.28$/m);
      assert.equal(await kubectl.ok(`apply -f ${manifest}`), 'deployment.apps/web configured\n');
      assert.equal(
        await kubectl.ok(`get deploy web -n ${ns} -o jsonpath={.spec.replicas}/{.metadata.generation}`),
        '3/2',
      );
      kubectl.file('apply.yaml', deployment(ns, 4));
      assert.equal(await kubectl.ok(`replace -f ${manifest}`), 'deployment.apps/web replaced\n');
      assert.match(
        await kubectl.fails('apply -f -', 'kind: Pod\n'),
        /^error: error validating "STDIN": error validating data: apiVersion not set/,
      );
    });

    test('apply --prune', async () => {
      const ns = await space();
      const one = `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: ${ns}, labels: {set: x}}}\n`;
      await kubectl.ok(
        `apply -n ${ns} --prune -l set=x --prune-allowlist=core/v1/ConfigMap -f -`,
        `${one}---\n${one.replace('one', 'two')}`,
      );
      const output = await kubectl.ok(`apply -n ${ns} --prune -l set=x --prune-allowlist=core/v1/ConfigMap -f -`, one);
      assert.equal(output, 'configmap/one unchanged\nconfigmap/two pruned\n');
    });

    test('apply --server-side', async () => {
      const ns = await space();
      const apply = (manager: string, value: string, more = '') =>
        kubectl.run(`apply --server-side --field-manager=${manager}${more} -f -`, {
          input: settings(ns, `key: ${value}`),
        });
      assert.equal((await apply('one', 'a')).stdout, 'configmap/settings serverside-applied\n');
      const conflict = await apply('two', 'b');
      assert.equal(conflict.code, 1);
      assert.match(
        conflict.stderr,
        /^error: Apply failed with 1 conflict: conflict with "one": \.data\.key\nPlease review the fields above/,
      );
      assert.equal((await apply('two', 'b', ' --force-conflicts')).stdout, 'configmap/settings serverside-applied\n');
      assert.equal(await kubectl.ok(`get cm settings -n ${ns} -o jsonpath={.data.key}`), 'b');
      assert.equal(
        await kubectl.ok([
          'get',
          'cm',
          'settings',
          '-n',
          ns,
          '--show-managed-fields',
          '-o',
          'jsonpath={.metadata.managedFields[*].manager}',
        ]),
        'two',
      );
    });

    test('patch, in three types', async () => {
      const ns = await space();
      await kubectl.ok('create -f -', deployment(ns, 1));
      const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"busybox"}]}}}}';
      assert.equal(
        await kubectl.ok(['patch', 'deploy', 'web', '-n', ns, '-p', strategic]),
        'deployment.apps/web patched\n',
      );
      const images = '-o=jsonpath={.spec.template.spec.containers[*].image}';
      assert.equal(await kubectl.ok(['get', 'deploy', 'web', '-n', ns, images]), 'busybox nginx:1.27');
      const merge = '{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"alpine"}]}}}}';
      await kubectl.ok(['patch', 'deploy', 'web', '-n', ns, '--type=merge', '-p', merge]);
      assert.equal(await kubectl.ok(['get', 'deploy', 'web', '-n', ns, images]), 'alpine');
      const json = '[{"op":"replace","path":"/spec/replicas","value":7}]';
      await kubectl.ok(['patch', 'deploy', 'web', '-n', ns, '--type=json', '-p', json]);
      assert.equal(await kubectl.ok(`get deploy web -n ${ns} -o jsonpath={.spec.replicas}`), '7');
      assert.equal(
        await kubectl.ok(['patch', 'deploy', 'web', '-n', ns, '--type=json', '-p', json]),
        'deployment.apps/web patched (no change)\n',
      );
      await kubectl.ok([
        'patch',
        'deploy',
        'web',
        '-n',
        ns,
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"replicas":7}}',
      ]);
      assert.equal(
        await kubectl.ok(`get deploy web -n ${ns} --subresource=status -o jsonpath={.status.replicas}`),
        '7',
      );
    });

    test('edit', async () => {
      const ns = await space();
      await kubectl.ok('create -f -', settings(ns, 'key: value'));
      const edit = (script: string) =>
        kubectl.run(`edit cm settings -n ${ns}`, { env: { EDITOR: kubectl.editor(script) } });
      assert.equal((await edit("sed -i 's/key: value/key: edited/' $1")).stdout, 'configmap/settings edited\n');
      assert.equal(await kubectl.ok(`get cm settings -n ${ns} -o jsonpath={.data.key}`), 'edited');
      assert.equal((await edit('true')).stderr, 'Edit cancelled, no changes made.\n');
    });

    test('label and annotate', async () => {
      const ns = await space();
      await kubectl.ok('create -f -', settings(ns, 'key: value'));
      const cm = `cm settings -n ${ns}`;
      assert.equal(await kubectl.ok(`label ${cm} a=1`), 'configmap/settings labeled\n');
      assert.equal(
        await kubectl.fails(`label ${cm} a=2`),
        "error: 'a' already has a value (1), and --overwrite is false\n",
      );
      assert.equal(await kubectl.ok(`label ${cm} a=2 --overwrite`), 'configmap/settings labeled\n');
      assert.equal(await kubectl.ok(`label ${cm} a-`), 'configmap/settings unlabeled\n');
      assert.equal(await kubectl.ok(`annotate ${cm} note=x`), 'configmap/settings annotated\n');
      assert.equal(await kubectl.ok(`get ${cm} -o jsonpath={.metadata.annotations.note}{.metadata.labels}`), 'x');
    });

    test('scale', async () => {
      const ns = await space();
      await kubectl.ok('create -f -', deployment(ns, 1));
      assert.equal(await kubectl.ok(`scale deploy/web -n ${ns} --replicas=3`), 'deployment.apps/web scaled\n');
      assert.equal(
        await kubectl.fails(`scale deploy/web -n ${ns} --current-replicas=9 --replicas=4`),
        'error: Expected replicas to be 9, was 3\n',
      );
      const cloneSet = `{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: web, namespace: ${ns}}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`;
      await kubectl.ok('create -f -', cloneSet);
      assert.equal(await kubectl.ok(`scale clone/web -n ${ns} --replicas=5`), 'cloneset.apps.kruise.io/web scaled\n');
      assert.equal(await kubectl.ok(`get clone/web -n ${ns} -o jsonpath={.spec.replicas}`), '5');
    });

    test('wait', async () => {
      const ns = await space();
      await kubectl.ok('create -f -', deployment(ns, 1));
      assert.equal(
        await kubectl.ok(`wait --for=jsonpath={.spec.replicas}=1 deploy/web -n ${ns}`),
        'deployment.apps/web condition met\n',
      );
      assert.equal(
        await kubectl.fails(`wait --for=condition=Available deploy/web -n ${ns} --timeout=100ms`),
        'error: timed out waiting for the condition on deployments/web\n',
      );
      const waiting = kubectl.begin(`wait --for=condition=Available deploy/web -n ${ns} --timeout=20s`);
      const status = '{"status":{"conditions":[{"type":"Available","status":"True"}]}}';
      await kubectl.ok(['patch', 'deploy', 'web', '-n', ns, '--subresource=status', '-p', status]);
      await waiting.until('deployment.apps/web condition met\n');
      await kubectl.ok(`create configmap a -n ${ns}`);
      const gone = kubectl.begin(`wait --for=delete cm/a -n ${ns} --timeout=20s`);
      await kubectl.ok(`delete cm/a -n ${ns}`);
      assert.equal(await gone.ended, 0);
    });

    test('delete, with each cascade', async () => {
      const ns = await space();
      await kubectl.ok(`create configmap a -n ${ns}`);
      assert.equal(await kubectl.ok(`delete cm a -n ${ns}`), 'configmap "a" deleted\n');
      assert.equal(
        await kubectl.fails(`delete cm a -n ${ns}`),
        'Error from server (NotFound): configmaps "a" not found\n',
      );
      assert.equal(await kubectl.ok(`delete cm a -n ${ns} --ignore-not-found`), '');
      const hold = { background: '', foreground: '["foregroundDeletion"]', orphan: '["orphan"]' };
      for (const [cascade, finalizers] of Object.entries(hold)) {
        const name = `settings-${cascade}`;
        await kubectl.ok(
          'create -f -',
          settings(ns, 'a: b').replace('name: settings', `name: ${name}, finalizers: [example.com/hold]`),
        );
        assert.equal(
          await kubectl.ok(`delete cm ${name} -n ${ns} --cascade=${cascade} --wait=false`),
          `configmap "${name}" deleted\n`,
        );
        const left = JSON.parse(await kubectl.ok(`get cm ${name} -n ${ns} -o json`)).metadata;
        assert.ok(left.deletionTimestamp);
        const own = left.finalizers.filter((finalizer: string) => finalizer !== 'example.com/hold');
        assert.deepEqual(own, finalizers === '' ? [] : JSON.parse(finalizers));
        await kubectl.ok(['patch', 'cm', name, '-n', ns, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
      }
      await kubectl.ok(
        'create -f -',
        [1, 2, 3]
          .map((n) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: c${n}, namespace: ${ns}, labels: {set: c}}}`)
          .join('\n---\n'),
      );
      assert.equal(
        await kubectl.ok(`delete cm -n ${ns} -l set=c`),
        'configmap "c1" deleted\nconfigmap "c2" deleted\nconfigmap "c3" deleted\n',
      );
    });

    test('auth', async () => {
      const ns = await space();
      assert.equal(await kubectl.ok('auth can-i delete nodes'), 'yes\n');
      await kubectl.ok(`create serviceaccount bot -n ${ns}`);
      await kubectl.ok(`create role reader -n ${ns} --verb=get,list --resource=pods,configmaps`);
      await kubectl.ok(`create rolebinding reader -n ${ns} --role=reader --serviceaccount=${ns}:bot`);
      const bot = `--as=system:serviceaccount:${ns}:bot`;
      assert.equal(await kubectl.ok(`auth can-i list pods -n ${ns} ${bot}`), 'yes\n');
      const refused = await kubectl.run(`auth can-i delete pods -n ${ns} ${bot}`);
      assert.deepEqual([refused.code, refused.stdout], [1, 'no\n']);
      const rules = table(await kubectl.ok(`auth can-i --list -n ${ns} ${bot}`)).split('\n');
      assert.equal(rules[0], 'Resources  Non-Resource URLs  Resource Names  Verbs');
      assert.ok(rules.includes('configmaps  []  []  [get list]'));
      assert.ok(rules.includes('pods  []  []  [get list]'));
      assert.match(
        await kubectl.fails(`get secrets -n ${ns} ${bot}`),
        new RegExp(
          `^Error from server \\(Forbidden\\): secrets is forbidden: User "system:serviceaccount:${ns}:bot" cannot list resource "secrets" in API group "" in the namespace "${ns}"\\n$`,
        ),
      );
      const whoami = await kubectl.ok('auth whoami');
      assert.match(
        table(whoami),
        /^ATTRIBUTE {2}VALUE\nUsername {2}kubernetes-admin\nGroups {2}\[system:masters system:authenticated\]\nExtra: authentication\.kubernetes\.io\/credential-id {2}\[X509SHA256=[0-9a-f]{64}\]$/,
      );
    });

    test('create token, and what it is good for', async () => {
      const ns = await space();
      await kubectl.ok(`create serviceaccount bot -n ${ns}`);
      const token = (await kubectl.ok(`create token bot -n ${ns} --duration=20m`)).trim();
      const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
      assert.equal(claims.sub, `system:serviceaccount:${ns}:bot`);
      assert.equal(claims.exp - claims.iat, 1200);
      const server = kubectl.cluster.url;
      const alone = kubectl.file('empty', '');
      const whoami = await kubectl.ok(
        `auth whoami -o jsonpath={.status.userInfo.username} --kubeconfig=${alone} --server=${server} --insecure-skip-tls-verify --token=${token}`,
      );
      assert.equal(whoami, `system:serviceaccount:${ns}:bot`);
      const wrong = await kubectl.fails(
        `get cm --kubeconfig=${alone} --server=${server} --insecure-skip-tls-verify --token=${token}x`,
      );
      assert.match(wrong, /You must be logged in to the server/);
    });

    test('certificate approve', async () => {
      const key = generateKey();
      const request = Buffer.from(createRequest({ commonName: 'ann', organizations: ['team'] }, key)).toString(
        'base64',
      );
      const asked = (name: string) =>
        `{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: ${name}}, spec: {request: ${request}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}}`;
      await kubectl.ok('create -f -', asked('ann'));
      assert.equal(
        table(await kubectl.ok('get csr ann')),
        'NAME  AGE  SIGNERNAME  REQUESTOR  REQUESTEDDURATION  CONDITION\nann  AGE  kubernetes.io/kube-apiserver-client  kubernetes-admin  <none>  Pending',
      );
      assert.equal(
        await kubectl.ok('certificate approve ann'),
        'certificatesigningrequest.certificates.k8s.io/ann approved\n',
      );
      assert.match(table(await kubectl.ok('get csr ann')), / {2}Approved(,Issued)?$/);
      await kubectl.ok('create -f -', asked('bob'));
      assert.equal(
        await kubectl.ok('certificate deny bob'),
        'certificatesigningrequest.certificates.k8s.io/bob denied\n',
      );
      assert.match(table(await kubectl.ok('get csr bob')), / {2}Denied$/);
    });

    test('events', async () => {
      const ns = await space();
      const event = (name: string, type: string, time: string) =>
        `{apiVersion: v1, kind: Event, metadata: {name: ${name}, namespace: ${ns}}, involvedObject: {kind: Pod, name: web, namespace: ${ns}, apiVersion: v1}, type: ${type}, reason: Reason${type}, message: what happened, count: 1, firstTimestamp: "${time}", lastTimestamp: "${time}", source: {component: e2e}}`;
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+/, '');
      await kubectl.ok('create -f -', `${event('one', 'Normal', ago(300))}\n---\n${event('two', 'Warning', ago(60))}`);
      const header = 'LAST SEEN  TYPE  REASON  OBJECT  MESSAGE';
      const lines = (await kubectl.ok(`events -n ${ns}`))
        .trimEnd()
        .split('\n')
        .map((line) => table(line));
      assert.deepEqual(
        lines.map((line) => line.replace(/^\d\S*/, 'AGE')),
        [
          header,
          'AGE  Normal  ReasonNormal  Pod/web  what happened',
          'AGE  Warning  ReasonWarning  Pod/web  what happened',
        ],
      );
      const warnings = await kubectl.ok(`get events -n ${ns} --field-selector type=Warning`);
      assert.deepEqual(
        warnings
          .trimEnd()
          .split('\n')
          .map((line) => table(line).replace(/^\d\S*/, 'AGE')),
        [header, 'AGE  Warning  ReasonWarning  pod/web  what happened'],
      );
    });

    test('cordon, taint and drain', async () => {
      await kubectl.ok('create -f -', '{apiVersion: v1, kind: Node, metadata: {name: node-1}}');
      assert.equal(await kubectl.ok('cordon node-1'), 'node/node-1 cordoned\n');
      assert.equal(await kubectl.ok('cordon node-1'), 'node/node-1 already cordoned\n');
      assert.match(
        table(await kubectl.ok('get nodes')),
        /^NAME {2}STATUS {2}ROLES {2}AGE {2}VERSION\nnode-1 {2}.*SchedulingDisabled {2}<none> {2}AGE$/,
      );
      assert.equal(await kubectl.ok('uncordon node-1'), 'node/node-1 uncordoned\n');
      assert.equal(await kubectl.ok('taint nodes node-1 key=value:NoSchedule'), 'node/node-1 tainted\n');
      assert.match(
        await kubectl.fails('taint nodes node-1 key=value:NoSchedule'),
        /already has key taint\(s\) with same effect\(s\)/,
      );
      assert.equal(await kubectl.ok('taint nodes node-1 key:NoSchedule-'), 'node/node-1 untainted\n');
      await kubectl.ok('delete node node-1');
    });

    test('config', async () => {
      assert.equal(await kubectl.ok('config current-context'), 'kruise\n');
      assert.equal(
        table(await kubectl.ok('config get-contexts')),
        'CURRENT  NAME  CLUSTER  AUTHINFO  NAMESPACE\n*  kruise  kruise  kruise',
      );
      assert.equal(
        await kubectl.ok('config set-context --current --namespace=elsewhere'),
        'Context "kruise" modified.\n',
      );
      const { stderr } = await kubectl.run('get cm');
      assert.equal(stderr, 'No resources found in elsewhere namespace.\n');
      await kubectl.ok('config set-context --current --namespace=default');
      assert.match(readFileSync(kubectl.cluster.kubeconfig, 'utf8'), /current-context: kruise\n/);
    });

    test('custom resources', async () => {
      const ns = await space();
      const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: toys.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: toys, singular: toy, kind: Toy, shortNames: [ty]}, versions: [{name: v1, served: true, storage: true, additionalPrinterColumns: [{name: Colour, type: string, jsonPath: .spec.colour}], schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [colour], properties: {colour: {type: string, enum: [red, blue], description: What it looks like.}}}}}}}]}}`;
      assert.equal(
        await kubectl.ok('apply -f -', definition),
        'customresourcedefinition.apiextensions.k8s.io/toys.example.com created\n',
      );
      assert.equal(
        await kubectl.ok('wait --for=condition=Established crd/toys.example.com --timeout=10s'),
        'customresourcedefinition.apiextensions.k8s.io/toys.example.com condition met\n',
      );
      const toy = (colour: string) =>
        `{apiVersion: example.com/v1, kind: Toy, metadata: {name: ball, namespace: ${ns}}, spec: {colour: ${colour}}}`;
      assert.equal(await kubectl.ok('apply -f -', toy('red')), 'toy.example.com/ball created\n');
      assert.equal(table(await kubectl.ok(`get ty -n ${ns}`)), 'NAME  COLOUR\nball  red');
      assert.match(
        await kubectl.fails('apply -f -', toy('green')),
        /The Toy "ball" is invalid: spec\.colour: Unsupported value: "green": supported values: "red", "blue"/,
      );
      assert.match(await kubectl.ok('explain toy.spec.colour'), /What it looks like\./);
      assert.equal(
        await kubectl.ok('delete crd toys.example.com'),
        'customresourcedefinition.apiextensions.k8s.io "toys.example.com" deleted\n',
      );
    });
  });
}
