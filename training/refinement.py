# SPDX-License-Identifier: MIT
"""Trains the learned choices among candidates (choice.py) on ray-cast scenes, as a relay."""
# Each run goes on from a checkpoint, for as many minutes as there are, on all GPUs:
#
#     training/refinement.py PHOTOGRAPHS --minutes 9 --resume training/checkpoint.pt --out FOLDER
#
# Needs NVIDIA GPUs and nvcc; builds the library. The program's own matcher makes the maps that are
# refined. Trained in floats; weights, activations and means are rounded as the program rounds them
# when a run ends.
import argparse
import contextlib
import copy
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

import choice
import network
import scenes
from scenes import DEVICE, HEIGHT, WIDTH

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(HERE, '..', 'bindings', 'python')
BUILT_IN = os.path.join(HERE, '..', 'config', 'features', 'weights.features')
CHANCES = os.path.join(HERE, '..', 'gpu', 'stages', 'chance_table.inc')  # of 256 cells
# The presets whose maps each choice refines, each for as many pairs.
PRESETS = {'learned': ('best',), 'census': ('default', 'live', 'driving')}
RANGES = (16, 24, 32, 48, 64, 96, 128, 160, 192, 240)  # that maps are searched in
BATCH = 8  # of one GPU
# The weight of pixels that passed the check and are off by more than 1 px. Rendered streets have
# 15 % of them, real ones 1 to 4 %: a low weight keeps the network from distrusting what passed.
WRONG_WEIGHT = 0.3
TOGETHER = 20  # steps between two times when a choice's GPUs agree on how far they are


class Times:
    """Seconds by name since the last report, of one thread and its stream."""

    def __init__(self):
        self.sums, self.at = {}, time.perf_counter()

    def add(self, name):
        if DEVICE.type == 'cuda':
            torch.cuda.current_stream().synchronize()
        now = time.perf_counter()
        self.sums[name] = self.sums.get(name, 0) + now - self.at
        self.at = now

    def report(self):
        sums, self.sums = self.sums, {}
        return json.dumps({name: round(s, 2) for name, s in sums.items() if name})


class Program:
    """The program's matcher with one of several presets, and its descriptor."""

    def __init__(self, part, weights):
        sys.path.insert(0, PYTHON)
        import livestereo
        self.weights = np.fromfile(weights, np.uint8).tobytes()
        self.open, self.matchers, self.presets = livestereo.Matcher, {}, PRESETS[part]
        layers = choice.read_file(weights)[1]
        self.on_device = [(w.to(DEVICE), b.to(DEVICE), shift) for w, b, shift in layers]
        self.learned = part == 'learned'
        self.chances = np.loadtxt(CHANCES, np.uint8, delimiter=',', usecols=range(16)).ravel()
        if DEVICE.type == 'cuda':  # before the thread that makes pairs runs
            self.words = torch.compile(self.words)
            with torch.no_grad():
                self.words(torch.zeros(8, HEIGHT, WIDTH, 3, dtype=torch.uint8, device=DEVICE))

    def match(self, left, right, labels, lot=0):
        """Disparities in 1/16 px (H, W) int16 and confidences, by preset number lot."""
        key = (*left.shape[:2], labels, self.presets[lot % len(self.presets)])
        # The choice sees chances before what repeats lowers them: those of the table's cells.
        if key not in self.matchers:
            self.matchers[key] = self.open(key[1], key[0], preset=key[3], refinement='off',
                                           disparity_range=labels, confidence='cell',
                                           weights=self.weights)
        result = self.matchers[key](left.cpu().numpy(), right.cpu().numpy())
        return [torch.tensor(m, device=DEVICE) for m in
                (result.disparity, self.chances[result.confidence])]

    def words(self, picture):
        grey = choice.grey_of(picture)
        return choice.described(self.on_device, grey) if self.learned else choice.census(grey)


class Pairs(threading.Thread):
    """Fills a ring of pairs on the GPU with what the network sees, while it is trained."""

    def __init__(self, caster, program, count, seed, reuse):
        super().__init__(daemon=True)
        self.caster, self.program, self.seed, self.reuse = caster, program, seed, reuse
        make = lambda t, *k: torch.zeros(count, *k, HEIGHT, WIDTH, dtype=t, device=DEVICE)
        self.ring = {'f': make(torch.uint8, choice.FEATURES),
                     'cand': make(torch.int16, choice.CANDIDATES), 'd': make(torch.float32),
                     'known': make(torch.bool), 'weight': make(torch.uint8)}
        self.count, self.made, self.used, self.stop, self.failed = count, 0, 0, False, None
        self.generator, self.times = torch.Generator(DEVICE).manual_seed(seed), Times()

    def pairs(self, count, seed):
        """The pairs to train on: a dictionary of tensors (count, ...)."""
        rgb, d, seen, largest, rows_off = self.caster.cast(count, seed)
        self.times.add('cast')
        rgb = scenes.degraded(rgb, self.generator)
        scenes.make_worse(rgb, self.generator)
        self.times.add('degrade')
        maps, right = [], []
        for i in range(count):
            labels = next((r for r in RANGES if r >= largest[i]), RANGES[-1])
            maps.append(self.program.match(*rgb[i], labels, seed + i))
        self.times.add('match')
        for i in range(count):
            # Rows as the program puts them right, by an estimate that is nearly exact.
            off = round(-32 * float(rows_off[i]))
            off += torch.randint(-1, 2, (3, 3), device=DEVICE, generator=self.generator)
            right.append(choice.rows_moved(rgb[i, 1], off))
        words = self.program.words(torch.cat([rgb[:, 0], torch.stack(right)])).chunk(2)
        self.times.add('words')
        f, cand, known = map(torch.stack, zip(*(
            self.caster.features(*maps[i], rgb[i, 0], right[i], [w[i] for w in words])
            for i in range(count))))
        # A sky's inside: 10; what is at an edge, of the sky, too: 60 more.
        weight = torch.where(d > 0, 30, 10) + 60 * (scenes.spread(d) > 2)
        wrong = known & ((cand[:, 0] / 16 - d).abs() > 1)
        weight = torch.where(wrong, WRONG_WEIGHT * weight, weight) * (d < RANGES[-1])
        self.times.add('features')
        return {'f': f, 'cand': cand, 'd': d, 'known': known, 'seen': seen, 'weight': weight}

    def run(self):
        try:
            with torch.cuda.stream(torch.cuda.Stream()) if DEVICE.type == 'cuda' else \
                    contextlib.nullcontext(), torch.no_grad():
                frames = 6 * len(self.program.presets)  # that capture all graphs of a range
                for i in range(frames * len(RANGES)):
                    one = torch.zeros(HEIGHT, WIDTH, 3, dtype=torch.uint8, device=DEVICE)
                    self.program.match(one, one, RANGES[i // frames], i)
                while not self.stop:
                    if self.made >= self.count / 2 + self.used / self.reuse:
                        time.sleep(0.002)
                        continue
                    self.times.add('idle')
                    new = self.pairs(4, self.seed * 10000019 + self.made)
                    at = [(self.made + i) % self.count for i in range(4)]
                    for name, tensor in self.ring.items():
                        tensor[at] = new[name].to(tensor.dtype)
                    self.times.add('store')
                    self.made += 4
        except Exception as error:  # batch() ends with it
            self.failed = error
            raise

    def batch(self, lot):
        while self.made < min(self.count / 4, 16 * BATCH) and not self.failed:
            time.sleep(0.05)
        if self.failed:
            raise self.failed
        self.used += BATCH
        at = torch.from_numpy(lot.integers(0, min(self.made, self.count), BATCH)).to(DEVICE)
        return {name: tensor[at] for name, tensor in self.ring.items()}


# ---- training

class Group:
    """The GPUs, one process each, that train a choice together."""

    def __init__(self, rank, size, port):
        self.rank, self.size = rank, size
        if size > 1:
            dist.init_process_group('nccl' if DEVICE.type == 'cuda' else 'gloo', rank=rank,
                                    world_size=size, init_method=f'tcp://127.0.0.1:{port}')

    @torch.no_grad()
    def mean(self, tensors):
        """Each becomes its mean over the GPUs."""
        if self.size > 1:
            flat = torch.cat([t.reshape(-1) for t in tensors])
            dist.all_reduce(flat)
            parts = (flat / self.size).split([t.numel() for t in tensors])
            torch._foreach_copy_(tensors, [p.view(t.shape) for p, t in zip(parts, tensors)])

    def agree(self, number):
        """The number of the first one."""
        if self.size > 1:
            number = torch.tensor([number], device=DEVICE, dtype=torch.float64)
            dist.broadcast(number, 0)
        return float(number)


def loss_of_batch(run_network, run_loss, b, step):
    base = choice.regressed_base(b['cand'][:, 0].int(), b['known'])
    out, regressed = run_network(b['f'])
    modes = network.modes_of(out, regressed, b['cand'], base)
    rows = slice(step % 2, None, 2)  # half of the rows
    return run_loss(out[:, :choice.MODES, rows].contiguous(), modes[:, :, rows].contiguous(),
                    b['d'][:, rows].contiguous(), b['weight'][:, rows].float())


def compiled(part, say):
    """The network and the loss as functions, compiled with made-up numbers, before there are pairs:
    run(network) takes the weights."""
    net = network.Network(part).to(DEVICE, memory_format=torch.channels_last)
    if DEVICE.type != 'cuda':
        return net, net, network.loss_of
    run_network, run_loss = torch.compile(net), torch.compile(network.loss_of)
    make = lambda most, t, *k: torch.randint(0, most, (BATCH, *k, HEIGHT, WIDTH), device=DEVICE,
                                             dtype=t)
    for step in range(2):
        b = {'f': make(128, torch.uint8, choice.FEATURES), 'known': make(2, torch.uint8).bool(),
             'cand': make(512, torch.int16, choice.CANDIDATES), 'd': make(32, torch.float32),
             'weight': make(90, torch.uint8)}
        loss_of_batch(run_network, run_loss, b, step).backward()
    assert all(layer.weight.grad.any() for layer in net.layers.values())
    say('compiled')
    return net, run_network, run_loss


def train(functions, pairs, lot, group, options, say, save):
    """Trains until options.until, at a constant rate, or one that falls to 0 as a cosine in the run
    that closes the relay. Returns the moving average and the steps."""
    net, run_network, run_loss = functions
    average, times = copy.deepcopy(net).eval(), Times()
    parameters = list(net.parameters())
    # Moments are forgotten after 100 steps of 0.99: a checkpoint does without them.
    optimiser = torch.optim.AdamW(parameters, lr=options.rate, betas=(0.9, 0.99), weight_decay=0,
                                  fused=DEVICE.type == 'cuda')
    floats = lambda: [t for t in average.state_dict().values() if t.is_floating_point()]
    step, done, losses, begun = 0, 0, [], time.time()
    saved = shown = begun
    length = max(options.until - begun, 1)
    while done < 1:
        for one in optimiser.param_groups:
            fall = 0.5 + 0.5 * math.cos(math.pi * done) if options.close else 1
            one['lr'] = options.rate * min(1, (step + 1) / 200) * fall
        mark = times.add if step % 50 == 49 else lambda name: None
        mark('')
        b = pairs.batch(lot)
        mark('batch')
        loss = loss_of_batch(run_network, run_loss, b, step)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        mark('gradients')
        group.mean([p.grad for p in parameters if p.grad is not None])
        mark('mean')
        torch.nn.utils.clip_grad_norm_(parameters, 5)
        optimiser.step()
        step += 1
        network.average_in(net, average, step)
        mark('step')
        losses.append(loss.detach())
        if step % TOGETHER:
            continue
        now = group.agree(time.time())
        done = (now - begun) / length
        if now - shown > 30 or done >= 1:
            shown = now
            say(f'step {step}, {step / (now - begun):.1f}/s, pairs {pairs.made}, loss '
                f'{float(torch.stack(losses).mean()):.4f}, of 50 steps one', times.report(),
                'pairs', pairs.times.report())
            losses = []
        if now - saved > 120 or done >= 1:
            saved = now
            group.mean(floats())
            save(average, step)
    return average, step


@torch.no_grad()
def calibrate(pairs, net):
    """The curve of chances by support, of rendered pairs of other seeds, and shares of them."""
    # Per cent: off by more than 1 px before, after; what passed; off among those before, after.
    sums, parts = torch.zeros(2, 17, device=DEVICE), []
    for i in range(32):
        p = pairs.pairs(4, 777000111 + 4 * i)
        known, share = p['known'], lambda b: 100 * float(b.float().mean())
        logits, modes = choice.modes_of(*net.answers(p['f']), p['cand'].int(), known)
        fine, support = choice.chosen(logits, modes, known)
        before, after = ((x - p['d']).abs() > 1 for x in (p['cand'][:, 0] / 16, fine / 64))
        parts.append([share(b) for b in (before, after, known, before[known], after[known])])
        # A support counts for the two values of the curve that it lies between.
        low, part = (support >> 4).view(-1), ((support & 15) / 16).view(-1)
        for at, w in ((low, 1 - part), (low + 1, part)):
            sums[0].index_add_(0, at, w)
            sums[1].index_add_(0, at, w * (~after).view(-1))
    seen, right = sums.cpu().numpy()
    at = np.flatnonzero(seen > 1000)  # few pixels have a low support: a line to 0
    curve = np.maximum.accumulate(255 * right[at] / seen[at])
    curve = np.interp(np.arange(17), np.append(0, at), np.append(0, curve))
    return curve.round().astype(int).tolist(), [round(float(v), 2) for v in np.mean(parts, 0)]


# ---- one process a GPU

def work(options, part, rank, size, port, folder):
    """Trains part on this GPU; the first one of the part writes its checkpoint and weights."""
    begun = time.time()

    def say(*words):
        if not rank:
            print(f'[{part} {time.time() - begun:6.1f}]', *words, flush=True)
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # exact: 8 bits
    torch.backends.cudnn.benchmark = True
    functions = compiled(part, say)
    group = Group(rank, size, port)
    kept = network.read_checkpoint(options.resume).get(part)
    runs, steps = (kept['runs'], kept['steps']) if kept else (0, 0)
    while not os.path.exists(os.path.join(folder, 'built')):
        time.sleep(0.2)
    program = Program(part, options.weights)
    caster = scenes.Caster(*torch.load(os.path.join(folder, 'pool'), mmap=True))
    seed = options.seed + 100 * runs + 10 * rank
    pairs, lot = Pairs(caster, program, options.ring, seed, options.reuse), \
        np.random.default_rng(seed)
    pairs.start()
    if kept:
        network.unpack(functions[0], kept['network'])
    elif options.resume:
        functions[0].begin_with(choice.read_file(options.weights)[2][part][0],
                                pairs.batch(lot)['f'])
        group.mean([t for t in functions[0].state_dict().values() if t.is_floating_point()])
    else:
        options.rate *= 2

    def save(average, done):
        if not rank:
            state = {'network': network.packed(average), 'steps': steps + done * size,
                     'runs': runs + 1}
            path = os.path.join(options.out, part + '.part')
            torch.save(state, path + '.new')
            os.replace(path + '.new', path)
    average, done = train(functions, pairs, lot, group, options, say, save)
    pairs.stop = True
    pairs.join()
    if rank:
        os._exit(0)  # NCCL would wait for the first one
    whole = average.rounded([pairs.batch(lot)['f'] for _ in range(17)])
    curve, rates = calibrate(pairs, whole)
    say('curve', curve, rates)
    trained = f'{steps + done * size} steps, seed {options.seed}'
    torch.save((trained, whole.whole(), choice.PRIOR, curve),
               os.path.join(options.out, part + '.whole'))


def merge(options):
    """Where a part's checkpoint is new, that of all is written, with what the last one had of
    others."""
    path = os.path.join(options.out, 'checkpoint.pt')
    there = {part: os.path.join(options.out, part + '.part') for part, _ in options.parts}
    there = {part: own for part, own in there.items() if os.path.exists(own)}
    written = os.path.getmtime(path) if os.path.exists(path) else 0
    if there and max(map(os.path.getmtime, there.values())) > written:
        network.write_checkpoint(path, {**network.read_checkpoint(options.resume),
                                        **{part: torch.load(own) for part, own in there.items()}})


def write_weights(options):
    """The weights of all parts that the program takes."""
    about, layers, choices = choice.read_file(options.weights)
    for part, _ in options.parts:
        path = os.path.join(options.out, part + '.whole')
        if part in choice.LAYERS and os.path.exists(path):
            trained, *choices[part] = torch.load(path)
            own = 'choice' if part == 'learned' else 'choice with census'
            lines = [line for line in about[-1].split('; ') if not line.startswith(own + ':')]
            about[-1] = '; '.join(lines + [f'{own}: {trained}'])
    choice.write_file(os.path.join(options.out, 'weights.features'), about, layers, choices)


def start_workers(options, folder):
    """A process for each GPU: of each its part and the process."""
    workers, count = [], max(1, torch.cuda.device_count())
    gpus = (os.environ.get('CUDA_VISIBLE_DEVICES') or ','.join(map(str, range(count)))).split(',')
    for part, size in options.parts:
        port = 29500 + len(workers)
        for rank in range(size):
            job = {'part': part, 'rank': rank, 'size': size, 'port': port, 'folder': folder,
                   'until': options.until}
            gpu = {**os.environ, 'CUDA_VISIBLE_DEVICES': gpus[len(workers) % count]}
            workers.append((part, subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), *sys.argv[1:], '--worker',
                 json.dumps(job)], env=gpu)))
    return workers


def watch(options, workers):
    """Keeps one checkpoint until all end. Where one fails, the others of its part would wait."""
    while any(worker.poll() is None for _, worker in workers):
        for part in {part for part, worker in workers if worker.poll()}:
            for _, worker in (w for w in workers if w[0] == part):
                if worker.poll() is None:
                    print(f'{part}: one of its processes failed', flush=True)
                    worker.kill()
        time.sleep(3)
        merge(options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('photographs', help='a folder of photographs')
    parser.add_argument('--out', default='.', help='folder of checkpoint.pt and weights.features')
    parser.add_argument('--minutes', type=float, default=9, help='all of this run')
    parser.add_argument('--ending', type=float, default=1.2, help='of them for whole numbers')
    parser.add_argument('--resume', help='goes on from it; a part it lacks, from --weights')
    parser.add_argument('--weights', default=BUILT_IN, help='the descriptor, and choices that '
                        'are not trained (the built-in ones)')
    parser.add_argument('--parts', default='learned:1,census:1', help='each on how many GPUs')
    parser.add_argument('--close', action='store_true', help='the rate falls to 0')
    parser.add_argument('--rate', type=float, default=7e-4)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--ring', type=int, default=1600, help='pairs kept on the GPU, 20 MB each')
    parser.add_argument('--reuse', type=float, default=7, help='how often each pair is trained on')
    parser.add_argument('--worker', type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.parts = [(part, int(count)) for part, count in
                     (one.split(':') for one in options.parts.split(','))]
    if options.worker:
        options.until = options.worker.pop('until')
        return work(options, **options.worker)
    options.until = time.time() + 60 * (options.minutes - options.ending)
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        library = subprocess.Popen(['make', '-s', '-C', os.path.join(HERE, '..'),
                                    f'-j{os.cpu_count()}', 'build/liblivestereo.so.0'])
        workers = start_workers(options, folder)  # which compile what is trained meanwhile
        try:
            scenes.build()
            torch.save(scenes.textures(options.photographs,
                                       torch.Generator().manual_seed(options.seed)),
                       os.path.join(folder, 'pool'))
            assert not library.wait(), 'the library was not built'
            shutil.copy(os.path.join(HERE, '..', 'build', 'liblivestereo.so.0'),
                        os.path.join(PYTHON, 'livestereo'))
            open(os.path.join(folder, 'built'), 'w').close()
            print('built', flush=True)
            watch(options, workers)
        finally:
            for _, worker in workers:
                worker.kill()
    merge(options)
    write_weights(options)
    return max(abs(worker.returncode) for _, worker in workers)


if __name__ == '__main__':
    sys.exit(main())
