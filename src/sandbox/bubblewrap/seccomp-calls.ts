/** A processor the filter can be written for: the audit constant, and the numbers of its system calls. */
export interface Machine {
  readonly audit: number;
  /** System calls from here up belong to another calling convention of the same processor. */
  readonly foreignFrom: number | null;
  readonly clone: number;
  readonly clone3: number;
  readonly unshare: number;
  readonly closeRange: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  readonly fallocate: number;
  /** Calls that give a file its mode, and which argument is the mode. */
  readonly modes: Readonly<Record<string, { readonly number: number; readonly mode: number }>>;
  /** Calls that may make a file, where their flags say so. */
  readonly opens: Readonly<Record<string, { readonly number: number; readonly flags: number; readonly mode: number }>>;
  readonly openat2: number;
  readonly shmget: number;
  readonly denied: Readonly<Record<string, number>>;
}

/** The same number on every processor. */
const NEWER_CALLS = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
};

export const MACHINES: Readonly<Partial<Record<string, Machine>>> = {
  x64: {
    audit: 0xc000003e,
    foreignFrom: 0x40000000,
    clone: 56,
    clone3: 435,
    unshare: 272,
    closeRange: 436,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    fallocate: 285,
    modes: {
      creat: { number: 85, mode: 1 },
      chmod: { number: 90, mode: 1 },
      fchmod: { number: 91, mode: 1 },
      mknod: { number: 133, mode: 1 },
      mknodat: { number: 259, mode: 2 },
      fchmodat: { number: 268, mode: 2 },
      fchmodat2: { number: 452, mode: 2 },
    },
    opens: {
      open: { number: 2, flags: 1, mode: 2 },
      openat: { number: 257, flags: 2, mode: 3 },
    },
    openat2: 437,
    shmget: 29,
    denied: {
      ptrace: 101,
      syslog: 103,
      uselib: 134,
      ustat: 136,
      vhangup: 153,
      modify_ldt: 154,
      pivot_root: 155,
      sysctl: 156,
      chroot: 161,
      acct: 163,
      settimeofday: 164,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      iopl: 172,
      ioperm: 173,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      nfsservctl: 180,
      lookup_dcookie: 212,
      clock_settime: 227,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      migrate_pages: 256,
      move_pages: 279,
      perf_event_open: 298,
      fanotify_init: 300,
      name_to_handle_at: 303,
      open_by_handle_at: 304,
      clock_adjtime: 305,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
      ...NEWER_CALLS,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    foreignFrom: null,
    clone: 220,
    clone3: 435,
    unshare: 97,
    closeRange: 436,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    fallocate: 47,
    modes: {
      mknodat: { number: 33, mode: 2 },
      fchmod: { number: 52, mode: 1 },
      fchmodat: { number: 53, mode: 2 },
      fchmodat2: { number: 452, mode: 2 },
    },
    opens: { openat: { number: 56, flags: 2, mode: 3 } },
    openat2: 437,
    shmget: 194,
    denied: {
      lookup_dcookie: 18,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      nfsservctl: 42,
      chroot: 51,
      vhangup: 58,
      quotactl: 60,
      acct: 89,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      clock_settime: 112,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      settimeofday: 170,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      migrate_pages: 238,
      move_pages: 239,
      perf_event_open: 241,
      fanotify_init: 262,
      name_to_handle_at: 264,
      open_by_handle_at: 265,
      clock_adjtime: 266,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
      ...NEWER_CALLS,
    },
  },
};
