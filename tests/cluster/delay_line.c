// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// delay_line A B SECONDS BYTES_PER_SECOND
//
// A link between two network interfaces. A frame that comes by one leaves by the other as many seconds after its last
// byte would have come by a wire of this bandwidth; each direction has a wire of its own. Says "ready" on stdout; ends by
// a signal. For Linux; tc's netem would do the same where the kernel has that module.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

enum {
  frames = 1024,    // of a wire
  largest = 66000,  // bytes of a frame: TCP's segments come in one piece, to be cut by the last interface
};

struct frame {
  double due; // seconds
  size_t bytes;
  char data[largest];
};

struct wire {
  struct frame* frame; // a ring
  unsigned in, out;    // frames that have come and left, ever
  double free;         // when its last byte will have come
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void expect(int true, const char* what) {
  if (true) return;
  perror(what);
  exit(1);
}

/// All frames that come by this interface, each after a header that says how it is to be cut.
static int open_interface(const char* name) {
  const int handle = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
  expect(handle >= 0, "socket");
  const int on = 1;
  expect(!setsockopt(handle, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), "PACKET_VNET_HDR");
  expect(!setsockopt(handle, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on), "PACKET_IGNORE_OUTGOING");
  const int room = 16 << 20;
  setsockopt(handle, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  const struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
  expect(address.sll_ifindex != 0, name);
  expect(!bind(handle, (const struct sockaddr*)&address, sizeof address), name);
  const struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  expect(!setsockopt(handle, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all), "PACKET_MR_PROMISC");
  return handle;
}

static void take(struct wire* wire, int from, double delay, double bandwidth) {
  while (wire->in - wire->out < frames) {
    struct frame* f = &wire->frame[wire->in % frames];
    const ssize_t got = recv(from, f->data, largest, 0);
    if (got <= 0) return;
    f->bytes = (size_t)got;
    const double t = now();
    if (wire->free < t) wire->free = t;
    wire->free += (double)(f->bytes - sizeof(struct virtio_net_hdr)) / bandwidth;
    f->due = wire->free + delay;
    ++wire->in;
  }
}

static void give(struct wire* wire, int to) {
  for (; wire->in != wire->out; ++wire->out) {
    const struct frame* f = &wire->frame[wire->out % frames];
    if (f->due > now()) return;
    if (send(to, f->data, f->bytes, 0) < 0 && errno == EAGAIN) return; // else lost, as on any network
  }
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fputs("usage: delay_line A B SECONDS BYTES_PER_SECOND\n", stderr);
    return 2;
  }
  const int end[2] = {open_interface(argv[1]), open_interface(argv[2])};
  const double delay = atof(argv[3]);
  const double bandwidth = atof(argv[4]);
  struct wire wire[2] = {{0}, {0}}; // from end 0 to end 1, and back
  for (int i = 0; i < 2; ++i) expect((wire[i].frame = malloc(frames * sizeof(struct frame))) != NULL, "malloc");
  prctl(PR_SET_TIMERSLACK, 1UL);
  const struct sched_param first = {.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &first); // where it is allowed: ranks that wait take all cores
  puts("ready");
  fflush(stdout);
  for (;;) {
    double next = 1; // second
    struct pollfd wanted[2];
    for (int i = 0; i < 2; ++i) {
      const struct wire* w = &wire[i];
      wanted[i] = (struct pollfd){.fd = end[i], .events = w->in - w->out < frames ? POLLIN : 0};
      if (w->in == w->out) continue;
      const double left = w->frame[w->out % frames].due - now();
      if (left < next) next = left > 0 ? left : 0;
    }
    const struct timespec limit = {(time_t)next, (long)(1e9 * (next - (double)(time_t)next))};
    ppoll(wanted, 2, &limit, NULL);
    for (int i = 0; i < 2; ++i) {
      take(&wire[i], end[i], delay, bandwidth);
      give(&wire[i], end[1 - i]);
    }
  }
}
