/** kubectl with running Pods: logs, exec, attach, cp, port-forward, debug, top, events. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freshEnvironment, hasTool, type Outcome, run } from '../cluster.ts';
import { description, type Kubectl, startKubectl, table } from './kubectl.ts';

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: talker, labels: { app: talk } }
spec:
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c, 'for i in 1 2 3 4 5; do echo line $i; done; sleep infinity']
  - name: other
    image: busybox:1.36
    command: [sh, -c, 'echo from the other; sleep infinity']
---
apiVersion: v1
kind: Pod
metadata: { name: teller, labels: { app: talk } }
spec:
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c, 'echo one; until [ -f /go ]; do sleep 0.05; done; echo two']
  restartPolicy: Never
---
apiVersion: v1
kind: Pod
metadata: { name: repeater }
spec:
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c, 'while read line; do echo heard $line; done; echo the end']
    stdin: true
    stdinOnce: true
  restartPolicy: Never
---
apiVersion: v1
kind: Pod
metadata: { name: crasher }
spec:
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c, 'echo life $(hostname); exit 3']
---
apiVersion: v1
kind: Pod
metadata: { name: stuck }
spec:
  containers: [{ name: main, image: 'docker.io/library/no-such-image:1' }]
---
apiVersion: v1
kind: Pod
metadata: { name: whole, annotations: { sim.kruise.io/answers: '503 for 1s, 200' } }
spec:
  initContainers: [{ name: prepare, image: 'busybox:1.35', command: ['true'] }]
  containers:
  - name: main
    image: redis:7
    readinessProbe: { httpGet: { port: 6379 }, periodSeconds: 1 }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: nginx, image: 'nginx:1.25', ports: [{ name: http, containerPort: 80 }] }]
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ name: http, port: 8080, targetPort: http }] }
---
apiVersion: v1
kind: Pod
metadata:
  name: busy
  labels: { app: use }
  annotations: { sim.kruise.io/cpu: 250m, sim.kruise.io/memory: 30Mi, idle.sim.kruise.io/cpu: 10m }
spec:
  containers: [{ name: main, image: 'nginx:1.25' }, { name: idle, image: 'nginx:1.25' }]
---
apiVersion: v1
kind: Pod
metadata: { name: model }
spec:
  containers: [{ name: main, image: 'nginx:1.25' }]
---
apiVersion: v1
kind: Pod
metadata: { name: large, labels: { app: use }, annotations: { sim.kruise.io/cpu: 20m, sim.kruise.io/memory: 300Mi } }
spec:
  containers: [{ name: main, image: 'nginx:1.25' }]
`;

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

if (hasTool('kubectl', 'what kubectl does with Pods that run')) {
  describe('running Pods', () => {
    let kubectl: Kubectl;
    let ok: Kubectl['ok'];
    before(async () => {
      kubectl = await startKubectl('up', ['--nodes', '1']);
      ok = kubectl.ok;
      await ok('apply -f -', manifest);
      await ok('wait --for=condition=Ready pod talker teller repeater whole busy large --timeout=30s');
      await ok('rollout status deploy/web --timeout=30s');
    });
    after(() => kubectl.close());

    /** Runs kubectl in a terminal with typed input. */
    async function atTerminal(command: string, typed = ''): Promise<Outcome> {
      const env = { ...freshEnvironment(kubectl.home), KUBECONFIG: kubectl.cluster.kubeconfig, SHELL: '/bin/sh' };
      const { code, stdout, stderr } = await run('script', ['-qec', `kubectl ${command}`, '/dev/null'], {
        env,
        input: typed,
      });
      return { code, stdout: stdout.replaceAll('\r\n', '\n'), stderr };
    }

    describe('logs', () => {
      const rows: readonly (readonly [name: string, options: string, expected: string | RegExp])[] = [
        ['all of a log', 'talker -c main', lines(5)],
        ['the last lines', 'talker -c main --tail=2', 'line 4\nline 5\n'],
        ['the first bytes', 'talker -c main --limit-bytes=9', 'line 1\nli'],
        ['what was said within an hour', 'talker -c main --since=1h', lines(5)],
        ['what was said since a time', 'talker -c main --since-time=2020-01-01T00:00:00Z', lines(5)],
        ['nothing of what is yet to come', 'talker -c main --since-time=2199-01-01T00:00:00Z', ''],
        [
          'when it was said',
          'talker -c main --timestamps --tail=1',
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z line 5\n$/,
        ],
        ['a container of several', 'talker -c other', 'from the other\n'],
        // kubectl requests the logs of several containers in no fixed order.
        [
          'all containers, each by its name',
          'talker --all-containers --prefix --tail=1',
          /^(?=[\s\S]*\[pod\/talker\/main\] line 5\n)(?=[\s\S]*\[pod\/talker\/other\] from the other\n).+\n.+\n$/,
        ],
        [
          'all Pods of a label',
          '-l app=talk --prefix --tail=1 -c main',
          /^(?=[\s\S]*\[pod\/talker\/main\] line 5\n)(?=[\s\S]*\[pod\/teller\/main\] (?:one|two)\n)/,
        ],
        ['what the last container said', 'crasher --previous', 'life crasher\n'],
      ];
      for (const [name, options, expected] of rows) {
        test(name, async () => {
          if (options.includes('--previous')) {
            await ok('wait --for=jsonpath={.status.containerStatuses[0].restartCount} pod/crasher --timeout=30s');
          }
          const output = await ok(`logs ${options}`);
          if (typeof expected === 'string') assert.equal(output, expected);
          else assert.match(output, expected);
        });
      }

      test('the first container, if none is named', async () => {
        const { stdout, stderr } = await kubectl.run('logs talker');
        assert.equal(stdout, lines(5));
        assert.equal(stderr, 'Defaulted container "main" out of: main, other\n');
      });

      test('one Pod of a Deployment', async () => {
        const { stderr } = await kubectl.run('logs deploy/web');
        assert.match(stderr, /^Found 2 pods, using pod\/web-/);
      });

      test('stream until the container ends', async () => {
        const following = kubectl.begin('logs -f teller');
        await following.until('one\n');
        await ok('exec teller -- touch /go');
        assert.equal(await following.ended, 0);
        assert.equal(following.output(), 'one\ntwo\n');
      });

      test('errors explain missing logs', async () => {
        await ok('wait --for=jsonpath={.status.containerStatuses[0].state.waiting.message} pod/stuck --timeout=30s');
        assert.match(
          await kubectl.fails('logs stuck'),
          /^Error from server \(BadRequest\): container "main" in pod "stuck" is waiting to start: (?:trying and failing to pull image|image can't be pulled)\n$/,
        );
        assert.equal(
          await kubectl.fails('logs talker -c main --previous'),
          'Error from server (BadRequest): previous terminated container "main" in pod "talker" not found\n',
        );
        assert.match(await kubectl.fails('logs talker -c nobody'), /container nobody is not valid for pod talker/);
      });
    });

    describe('exec', () => {
      test('runs a command and prints its output', async () => {
        const { code, stdout, stderr } = await kubectl.run([
          ...'exec talker -c other -- sh -c'.split(' '),
          'echo out; echo err >&2',
        ]);
        assert.deepEqual([code, stdout, stderr], [0, 'out\n', 'err\n']);
      });

      test('exits with the exit code of the command', async () => {
        const { code, stderr } = await kubectl.run([...'exec talker -c main -- sh -c'.split(' '), 'exit 7']);
        assert.deepEqual([code, stderr], [7, 'command terminated with exit code 7\n']);
      });

      test('passes its standard input', async () => {
        const input = 'all of it\n'.repeat(50_000);
        const { stdout } = await kubectl.run('exec -i talker -c main -- wc -c', { input });
        assert.equal(stdout.trim(), String(input.length));
      });

      test('allocates a terminal', async () => {
        const { code, stdout } = await atTerminal('exec -it talker -c main -- sh', 'echo here $((20 + 3))\nexit 4\n');
        assert.match(stdout, /here 23\n/);
        assert.equal(code, 4);
      });

      test('reports a missing command', async () => {
        const output = await kubectl.fails('exec talker -c main -- no-such-command');
        assert.match(output, /exec: "no-such-command": executable file not found in \$PATH/);
      });

      test('reports a container that is not running', async () => {
        assert.match(await kubectl.fails('exec crasher -- true'), /container not found \("main"\)/);
        assert.match(
          await kubectl.fails('exec talker -c nobody -- true'),
          /container nobody is not valid for pod talker/,
        );
      });
    });

    test('attach streams input and output of a running container', async () => {
      const { stdout } = await kubectl.run('attach -i repeater', { input: 'this\nthat\n' });
      assert.match(stdout, /heard this\nheard that\n/);
      await ok('wait --for=jsonpath={.status.phase}=Succeeded pod/repeater --timeout=30s');
      assert.equal(await ok('logs repeater --tail=1'), 'the end\n');
    });

    describe('cp', () => {
      test('copies files and directories to a Pod', async () => {
        const folder = join(kubectl.home, 'there');
        mkdirSync(join(folder, 'deep'), { recursive: true });
        writeFileSync(join(folder, 'one'), 'first');
        writeFileSync(join(folder, 'deep', 'two'), 'second');
        await ok(`cp ${join(folder, 'one')} talker:/tmp/alone -c main`);
        assert.equal(await ok('exec talker -c main -- cat /tmp/alone'), 'first');
        await ok(`cp ${folder} default/talker:/tmp/folder -c other`);
        assert.equal(await ok('exec talker -c other -- cat /tmp/folder/one /tmp/folder/deep/two'), 'firstsecond');
      });

      test('copies files and directories from a Pod', async () => {
        const prepare = 'mkdir -p /srv/deep; printf back > /srv/one; seq 1 50000 > /srv/deep/large';
        await ok([...'exec talker -c main -- sh -c'.split(' '), prepare]);
        const folder = join(kubectl.home, 'back');
        await ok(`cp talker:/srv/one ${join(kubectl.home, 'one')} -c main`);
        assert.equal(readFileSync(join(kubectl.home, 'one'), 'utf8'), 'back');
        await ok(`cp talker:/srv ${folder} -c main`);
        assert.deepEqual(readdirSync(folder).sort(), ['deep', 'one']);
        assert.match(readFileSync(join(folder, 'deep', 'large'), 'utf8'), /^1\n2\n[\s\S]*\n49999\n50000\n$/);
      });

      test('reports missing files', async () => {
        const { code, stdout, stderr } = await kubectl.run(`cp talker:/nowhere ${join(kubectl.home, 'x')} -c main`);
        assert.notEqual(code, 0);
        assert.match(stdout + stderr, /nowhere: No such file or directory/);
      });
    });

    describe('port-forward', () => {
      for (const [target, port] of [
        ['deploy/web', '80'],
        ['svc/web', '8080'],
        ['deploy/web', 'http'],
      ] as const) {
        test(`reaches ${target} at ${port}`, async () => {
          const forwarding = kubectl.begin(`port-forward ${target} :${port}`);
          try {
            await forwarding.until('Forwarding from 127.0.0.1');
            const [, local] = /127\.0\.0\.1:(\d+) -> 80/.exec(forwarding.output()) ?? [];
            // One connection after the other, then several at once.
            assert.match(await (await fetch(`http://127.0.0.1:${local}/`)).text(), /Welcome to nginx/);
            const answers = await Promise.all([1, 2, 3].map(() => fetch(`http://127.0.0.1:${local}/nothing`)));
            assert.deepEqual(
              answers.map(({ status }) => status),
              [404, 404, 404],
            );
          } finally {
            forwarding.child.kill();
            await forwarding.ended;
          }
        });
      }

      test('reports a port without a listener', async () => {
        const forwarding = kubectl.begin('port-forward talker :81');
        try {
          await forwarding.until('Forwarding from 127.0.0.1');
          const [, local] = /127\.0\.0\.1:(\d+) -> 81/.exec(forwarding.output()) ?? [];
          await assert.rejects(fetch(`http://127.0.0.1:${local}/`));
          await forwarding.until('an error occurred forwarding');
          assert.match(forwarding.output(), /connection refused/);
        } finally {
          forwarding.child.kill();
          await forwarding.ended;
        }
      });
    });

    describe('debug', () => {
      test('adds an ephemeral container to a running Pod', async () => {
        const { stdout } = await kubectl.run([
          ...'debug talker --image=busybox:1.36 -c look --target=main -- sh -c'.split(' '),
          'echo looking; sleep infinity',
        ]);
        assert.match(stdout, /Targeting container "main"/);
        await ok('wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.running} pod/talker --timeout=30s');
        assert.equal(await ok('logs talker -c look'), 'looking\n');
        assert.equal(await ok('exec talker -c look -- echo here'), 'here\n');
        assert.match(await ok('describe pod talker'), /Ephemeral Containers:\n {2}look:\n/);
      });

      test('attaches to the ephemeral container', async () => {
        const { stdout } = await atTerminal(
          'debug -it talker --image=busybox:1.36 -- sh',
          'echo seen $((1 + 1))\nexit\n',
        );
        assert.match(stdout, /seen 2\n/);
      });

      test('copies a Pod, with another image', async () => {
        await ok('debug model --copy-to=copy --set-image=*=nginx:1.26');
        await ok('wait --for=condition=Ready pod/copy --timeout=30s');
        assert.equal(await ok('get pod copy -o jsonpath={.spec.containers[*].image}'), 'nginx:1.26');
      });

      test('copies a Pod with another command and a debug container', async () => {
        await ok('debug model --copy-to=idle --container=main -- sleep infinity');
        await ok('wait --for=condition=Ready pod/idle --timeout=30s');
        assert.equal(await ok('get pod idle -o jsonpath={.spec.containers[0].command}'), '["sleep","infinity"]');
        await ok('debug model --copy-to=watched --image=busybox:1.36 -c look --share-processes -- sleep infinity');
        await ok('wait --for=condition=Ready pod/watched --timeout=30s');
        assert.equal(await ok('get pod watched -o jsonpath={.spec.containers[*].name}'), 'main look');
      });

      test('debugs a node', async () => {
        const { stdout } = await kubectl.run([...'debug node/node-1 --image=busybox:1.36 -- ls /host'.split(' ')]);
        const [, name] = /Creating debugging pod (\S+) with container debugger on node node-1/.exec(stdout) ?? [];
        await ok(`wait --for=jsonpath={.status.phase}=Succeeded pod/${name} --timeout=30s`);
        assert.match(await ok(`logs ${name}`), /^var$/m);
        assert.equal(await ok(`get pod ${name} -o jsonpath={.spec.hostNetwork}{.spec.hostPID}`), 'truetrue');
      });
    });

    describe('top', () => {
      const rowsOf = (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => line.trim().split(/\s+/));

      test('node', async () => {
        const [head, row] = rowsOf(await ok('top node'));
        assert.deepEqual(head, ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)']);
        assert.equal(row?.[0], 'node-1');
        assert.ok(Number.parseInt(row?.[1] ?? '', 10) >= 280, row?.join(' '));
        assert.ok(Number.parseInt(row?.[3] ?? '', 10) >= 360, row?.join(' '));
      });

      test('pod', async () => {
        assert.deepEqual(rowsOf(await ok('top pod busy')), [
          ['NAME', 'CPU(cores)', 'MEMORY(bytes)'],
          ['busy', '260m', '60Mi'],
        ]);
      });

      test('pod --containers', async () => {
        assert.deepEqual(rowsOf(await ok('top pod busy --containers --sort-by=cpu')), [
          ['POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)'],
          ['busy', 'main', '250m', '30Mi'],
          ['busy', 'idle', '10m', '30Mi'],
        ]);
      });

      for (const [field, names] of [
        ['cpu', ['busy', 'large']],
        ['memory', ['large', 'busy']],
      ] as const) {
        test(`pod --sort-by=${field}`, async () => {
          const rows = rowsOf(await ok(`top pod -l app=use --sort-by=${field} --no-headers`));
          assert.deepEqual(
            rows.map(([name]) => name),
            names,
          );
        });
      }
    });

    test('the kubelet API is available through the API server', async () => {
      const raw = (path: string) => ok(`get --raw /api/v1/nodes/node-1/proxy/${path}`);
      const summary = JSON.parse(await raw('stats/summary'));
      const busy = summary.pods.find((pod: { podRef: { name: string } }) => pod.podRef.name === 'busy');
      assert.equal(busy.containers.length, 2);
      assert.ok(summary.node.fs.availableBytes > 0);
      assert.match(
        await raw('metrics/resource'),
        /^pod_memory_working_set_bytes\{namespace="default",pod="busy"\} \d+ \d+$/m,
      );
      assert.match(
        await raw('metrics/cadvisor'),
        /^container_memory_rss\{container="main",.*pod="busy"\} 31457280 \d+$/m,
      );
      assert.match(await raw('metrics/probes'), /^prober_probe_total\{.*pod="whole",.*result="successful"\} \d+$/m);
      assert.match(await raw('metrics'), /^kubelet_running_pods \d+$/m);
      assert.equal(JSON.parse(await raw('pods')).kind, 'PodList');
      assert.ok(JSON.parse(await raw('configz')).kubeletconfig);
      assert.equal(await raw('healthz'), 'ok');
    });

    describe('events', () => {
      /** Returns type, reason, source and message of each event in the output of kubectl describe. */
      const eventsOf = (described: string) => {
        const [, text = ''] = /\nEvents:\n.*\n.*\n([\s\S]*)$/.exec(description(described)) ?? [];
        return text.split('\n').map((line) => {
          const [type, reason, _age, from, ...message] = line.trim().split('  ');
          const output = message
            .join(' ')
            .replace(/ in [\d.]+m?s \([\d.]+m?s including waiting\)\. Image size: \d+ bytes/, ' in TIME');
          return `${type} ${reason} ${from} ${output}`;
        });
      };

      test('describe lists events in order with the messages of Kubernetes', async () => {
        assert.deepEqual(eventsOf(await ok('describe pod whole')), [
          'Normal Scheduled default-scheduler Successfully assigned default/whole to node-1',
          'Normal Pulling kubelet Pulling image "busybox:1.35"',
          'Normal Pulled kubelet Successfully pulled image "busybox:1.35" in TIME.',
          'Normal Created kubelet Created container: prepare',
          'Normal Started kubelet Started container prepare',
          'Normal Pulling kubelet Pulling image "redis:7"',
          'Normal Pulled kubelet Successfully pulled image "redis:7" in TIME.',
          'Normal Created kubelet Created container: main',
          'Normal Started kubelet Started container main',
          'Warning Unhealthy kubelet Readiness probe failed: HTTP probe failed with statuscode: 503',
        ]);
      });

      test('describe shows why a Pod does not run', async () => {
        const reason = '{.status.containerStatuses[0].state.waiting.reason}';
        await ok(`wait --for=jsonpath=${reason}=ImagePullBackOff pod/stuck --timeout=60s`);
        const events = new Set(eventsOf(await ok('describe pod stuck')));
        for (const event of [
          'Normal Pulling kubelet Pulling image "docker.io/library/no-such-image:1"',
          'Warning Failed kubelet Error: ErrImagePull',
          'Normal BackOff kubelet Back-off pulling image "docker.io/library/no-such-image:1"',
          'Warning Failed kubelet Error: ImagePullBackOff',
        ]) {
          assert.ok(events.has(event), `${event} in\n${[...events].join('\n')}`);
        }
      });

      test('events are filtered by object and type', async () => {
        const of = await ok('events --for pod/whole');
        assert.match(table(of), /^LAST SEEN {2}TYPE {2}REASON {2}OBJECT {2}MESSAGE\n/);
        assert.equal(of.match(/ Created +Pod\/whole /g)?.length, 2);
        const warnings = await ok('events --types=Warning');
        assert.match(
          warnings,
          /BackOff .*Pod\/crasher .*Back-off restarting failed container main in pod crasher_default/,
        );
        assert.doesNotMatch(warnings, / Normal /);
      });

      test('events are watched', async () => {
        const watching = kubectl.begin('events --watch --for pod/late');
        await ok('run late --image=nginx:1.25 --restart=Never');
        await watching.until('Started container late');
        watching.child.kill();
        await watching.ended;
      });
    });

    describe('run', () => {
      test('-it --rm deletes the Pod after the session', async () => {
        const { code, stdout } = await atTerminal(
          'run shell -it --rm --restart=Never --image=busybox:1.36 --command -- sh',
          'echo hello from $(hostname)\nexit 0\n',
        );
        assert.match(stdout, /hello from shell\n/);
        assert.match(stdout, /pod "shell" deleted/);
        assert.equal(code, 0);
        assert.match(await kubectl.fails('get pod shell'), /NotFound/);
      });

      test('-i --rm passes standard input and exits with the exit code of the container', async () => {
        const command = 'run sum -i --rm --quiet --restart=Never --image=busybox:1.36 --command -- sh -c';
        const { code, stdout } = await kubectl.run([...command.split(' '), 'read x; echo got $x; exit 5'], {
          input: 'seven\n',
        });
        assert.match(stdout, /got seven\n/);
        assert.equal(code, 5);
      });
    });

    describe('wait', () => {
      test('for creation, readiness, a JSONPath and deletion', async () => {
        const made = kubectl.run('wait --for=create pod/brief --timeout=30s');
        await ok('run brief --image=nginx:1.25');
        assert.equal((await made).stdout, 'pod/brief condition met\n');
        assert.equal(await ok('wait --for=condition=Ready pod/brief --timeout=30s'), 'pod/brief condition met\n');
        await ok('wait --for=jsonpath={.status.phase}=Running pod/brief --timeout=30s');
        const gone = kubectl.run('wait --for=delete pod/brief --timeout=30s');
        await ok('delete pod brief --wait=false');
        assert.deepEqual((await gone).code, 0);
      });

      test('times out', async () => {
        const output = await kubectl.fails('wait --for=condition=Ready pod/stuck --timeout=1ms');
        assert.equal(output, 'error: timed out waiting for the condition on pods/stuck\n');
      });
    });
  });
}
