import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { description, type Kubectl, startKubectl } from './kubectl.ts';

const manifest = `apiVersion: v1
kind: Namespace
metadata: {name: desc, labels: {team: a}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: desc}
data: {key: value}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: desc}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: bot, namespace: desc}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: desc}
spec: {selector: {app: web}, clusterIP: 10.96.7.7, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: desc, labels: {app: web}}
spec:
  serviceAccountName: bot
  automountServiceAccountToken: false
  containers:
  - {name: nginx, image: "nginx:1.27", ports: [{containerPort: 80}], resources: {requests: {cpu: 100m}, limits: {memory: 64Mi}}, env: [{name: A, value: b}], volumeMounts: [{name: cfg, mountPath: /cfg}]}
  volumes: [{name: cfg, configMap: {name: settings}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: desc}
spec: {serviceName: db, replicas: 3, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: postgres}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: desc}
spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: desc}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: desc}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: desc}
spec: {rules: [{host: example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: sizes, namespace: desc}
spec: {limits: [{type: Container, default: {cpu: 500m}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: desc}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
`;

/** Output of kubectl describe for objects that no controller has changed yet. */
const described: readonly (readonly [object: string, text: string])[] = [
  [
    'cm/settings',
    `Name:  settings
Namespace:  desc
Labels:  <none>
Annotations:  <none>

Data
====
key:
----
value


BinaryData
====

Events:  <none>`,
  ],
  [
    'secret/keys',
    `Name:  keys
Namespace:  desc
Labels:  <none>
Annotations:  <none>

Type:  Opaque

Data
====
password:  7 bytes`,
  ],
  [
    'sa/bot',
    `Name:  bot
Namespace:  desc
Labels:  <none>
Annotations:  <none>
Image pull secrets:  <none>
Mountable secrets:  <none>
Tokens:  <none>
Events:  <none>`,
  ],
  [
    'svc/web',
    `Name:  web
Namespace:  desc
Labels:  <none>
Annotations:  <none>
Selector:  app=web
Type:  ClusterIP
IP Family Policy:  SingleStack
IP Families:  IPv4
IP:  10.96.7.7
IPs:  10.96.7.7
Port:  http  80/TCP
TargetPort:  8080/TCP
Endpoints:  <none>
Session Affinity:  None
Internal Traffic Policy:  Cluster
Events:  <none>`,
  ],
  [
    'pod/web',
    `Name:  web
Namespace:  desc
Priority:  0
Service Account:  bot
Node:  <none>
Labels:  app=web
Annotations:  <none>
Status:  Pending
IP:
IPs:  <none>
Containers:
  nginx:
    Image:  nginx:1.27
    Port:  80/TCP
    Host Port:  0/TCP
    Limits:
      memory:  64Mi
    Requests:
      cpu:  100m
      memory:  64Mi
    Environment:
      A:  b
    Mounts:
      /cfg from cfg (rw)
Volumes:
  cfg:
    Type:  ConfigMap (a volume populated by a ConfigMap)
    Name:  settings
    Optional:  false
QoS Class:  Burstable
Node-Selectors:  <none>
Tolerations:  node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                 node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
Events:  <none>`,
  ],
  [
    'sts/db',
    `Name:  db
Namespace:  desc
CreationTimestamp:  TIME
Selector:  app=db
Labels:  <none>
Annotations:  <none>
Replicas:  3 desired | 0 total
Update Strategy:  RollingUpdate
  Partition:  0
Pods Status:  0 Running / 0 Waiting / 0 Succeeded / 0 Failed
Pod Template:
  Labels:  app=db
  Containers:
   db:
    Image:  postgres
    Port:  <none>
    Host Port:  <none>
    Environment:  <none>
    Mounts:  <none>
  Volumes:  <none>
  Node-Selectors:  <none>
  Tolerations:  <none>
Volume Claims:  <none>
Events:  <none>`,
  ],
  [
    'cronjob/nightly',
    `Name:  nightly
Namespace:  desc
Labels:  <none>
Annotations:  <none>
Schedule:  0 3 * * *
Concurrency Policy:  Allow
Suspend:  False
Successful Job History Limit:  3
Failed Job History Limit:  1
Starting Deadline Seconds:  <unset>
Selector:  <unset>
Parallelism:  <unset>
Completions:  <unset>
Pod Template:
  Labels:  <none>
  Containers:
   c:
    Image:  busybox
    Port:  <none>
    Host Port:  <none>
    Environment:  <none>
    Mounts:  <none>
  Volumes:  <none>
  Node-Selectors:  <none>
  Tolerations:  <none>
Last Schedule Time:  <unset>
Active Jobs:  <none>
Events:  <none>`,
  ],
  [
    'pvc/data',
    `Name:  data
Namespace:  desc
StorageClass:
Status:  Pending
Volume:
Labels:  <none>
Annotations:  <none>
Finalizers:  [kubernetes.io/pvc-protection]
Capacity:
Access Modes:
VolumeMode:  Filesystem
Used By:  <none>
Events:  <none>`,
  ],
  [
    'role/reader',
    `Name:  reader
Labels:  <none>
Annotations:  <none>
PolicyRule:
  Resources  Non-Resource URLs  Resource Names  Verbs
  ---------  -----------------  --------------  -----
  pods  []  []  [get list]`,
  ],
  [
    'ingress/front',
    `Name:  front
Labels:  <none>
Namespace:  desc
Address:
Ingress Class:  <none>
Default backend:  <default>
Rules:
  Host  Path  Backends
  ----  ----  --------
  example.com
               /  web:80 (<none>)
Annotations:  <none>
Events:  <none>`,
  ],
  [
    'limits/sizes',
    `Name:  sizes
Namespace:  desc
Type  Resource  Min  Max  Default Request  Default Limit  Max Limit/Request Ratio
----  --------  ---  ---  ---------------  -------------  -----------------------
Container  cpu  -  -  500m  500m  -`,
  ],
  [
    'pdb/web',
    `Name:  web
Namespace:  desc
Min available:  1
Selector:  app=web
Status:
    Allowed disruptions:  0
    Current:  0
    Desired:  0
    Total:  0
Events:  <none>`,
  ],
];

if (hasTool('kubectl', 'what kubectl describe says')) {
  describe('kubectl describe', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl('apiserver');
      await kubectl.ok('apply -f -', manifest);
    });
    after(() => kubectl.close());

    for (const [object, text] of described) {
      test(object, async () => assert.equal(description(await kubectl.ok(`describe ${object} -n desc`)), text));
    }

    test('ns/desc', async () => {
      const text = description(await kubectl.ok('describe ns/desc'));
      assert.match(
        text,
        /^Name: {2}desc\nLabels: {2}kubernetes\.io\/metadata\.name=desc\n +team=a\nAnnotations: {2}<none>\nStatus: {2}Active\n/,
      );
      assert.match(text, /\n Container {2}cpu {2}- {2}- {2}500m {2}500m {2}-$/);
    });

    test('an object with events', async () => {
      const uid = await kubectl.ok('get cm settings -n desc -o jsonpath={.metadata.uid}');
      await kubectl.ok(
        'create -f -',
        `{apiVersion: v1, kind: Event, metadata: {name: e, namespace: desc}, involvedObject: {kind: ConfigMap, name: settings, namespace: desc, apiVersion: v1, uid: ${uid}}, type: Normal, reason: Changed, message: it was changed, count: 1, firstTimestamp: "2026-01-01T00:00:00Z", lastTimestamp: "2026-01-01T00:00:00Z", source: {component: e2e}}`,
      );
      assert.match(
        description(await kubectl.ok('describe cm/settings -n desc')),
        /Events:\n {2}Type {2}Reason {2}Age {2}From {2}Message\n {2}---- {2}------ {2}---- {2}---- {2}-------\n {2}Normal {2}Changed {2}\S+ {2}e2e {2}it was changed$/,
      );
    });

    test('a node', async () => {
      await kubectl.ok(
        'create -f -',
        '{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {capacity: {cpu: "4", pods: "110"}, nodeInfo: {kubeletVersion: v1.33.4, osImage: Linux}}}',
      );
      const text = description(await kubectl.ok('describe node node-1'));
      assert.match(text, /^Name: {2}node-1\nRoles: {2}<none>\n/);
      assert.match(text, /\nUnschedulable: {2}false\n/);
      assert.match(text, /\nNon-terminated Pods: {2}\(0 in total\)\n/);
    });
  });
}
