/** Configuration of a containerd that runs for one node, with its own directories and socket. */

export type ContainerdSettings = {
  readonly root: string;
  readonly state: string;
  readonly socket: string;
  readonly sandboxImage: string;
  readonly cniBinaries: string;
  readonly cniConfiguration: string;
  /** Directory with a `hosts.toml` for each registry. */
  readonly registries: string;
  readonly snapshotter: 'overlayfs' | 'native';
  /** True if this machine may not lower OOM scores: within a container nothing may be protected more than it is. */
  readonly restrictsOomScores: boolean;
  readonly hasAppArmor: boolean;
};

const text = JSON.stringify;

/** Returns the configuration file. */
export function containerdConfiguration(settings: ContainerdSettings): string {
  return `version = 2
root = ${text(settings.root)}
state = ${text(settings.state)}
oom_score = 0
[grpc]
  address = ${text(settings.socket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(settings.sandboxImage)}
  restrict_oom_score_adj = ${settings.restrictsOomScores}
  disable_apparmor = ${!settings.hasAppArmor}
  netns_mounts_under_state_dir = true
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(settings.cniBinaries)}
    conf_dir = ${text(settings.cniConfiguration)}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${text(settings.snapshotter)}
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${text(settings.registries)}
`;
}

/** Returns the `hosts.toml` by which all registries are pulled through a mirror. */
export function mirrorConfiguration(mirror: string): string {
  return `[host.${text(mirror)}]
  capabilities = ["pull", "resolve"]
`;
}
