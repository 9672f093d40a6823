#!/bin/bash
# A run of Tengen on Slurm: one Ray node on each machine, the first one also has the learner.
# sbatch docs/cluster/slurm.sh /shared/runs/9x9; the same again goes on where it ended.
#SBATCH --job-name=tengen
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=16
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@300
set -euo pipefail

run=$1                                  # on a file system that all machines share, or a URL
recipe=${2:-docs/recipes/9x9.toml}      # for a new run
port=6379

export RAY_USAGE_STATS_ENABLED=0        # or Ray reports its use to its makers
export RAY_AUTH_MODE=token              # whoever reaches the ports can run code: let them know a secret
RAY_AUTH_TOKEN=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export RAY_AUTH_TOKEN

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | awk '{print $1}')

srun --nodes=1 --ntasks=1 --overlap -w "$head" \
    ray start --head --node-ip-address="$address" --port=$port --include-dashboard=false --block &
sleep 20
if ((${#nodes[@]} > 1)); then
    srun --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) --overlap -x "$head" \
        ray start --address="$address:$port" --block &
    sleep 20
fi

words=()
[[ -e "$run/config.toml" ]] || words=(--config "$recipe")
# Five minutes before the job ends Slurm sends TERM to this script: the run saves and stops.
srun --nodes=1 --ntasks=1 --overlap -w "$head" \
    tengen train "$run" --cluster "$address:$port" "${words[@]}" &
training=$!
trap 'scancel --signal=TERM --step "$SLURM_JOB_ID"; wait "$training"' TERM
wait "$training"
