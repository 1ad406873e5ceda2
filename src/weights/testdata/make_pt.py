"""Writes the .pt files beside it as Python's torch.save does. Run it in this folder.

python3 make_pt.py
"""

import torch
from torch import nn

if __name__ == "__main__":
    torch.save(nn.Linear(2, 1).state_dict(), "python_state_dict.pt")
