"""Train a small ReLU network on two classes and two features of the Iris data with ordinary PyTorch code.

Writes net.npz and data.npz beside this file. Needs: pip install torch scikit-learn numpy. Takes about ten seconds.
"""

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_iris

WIDTH = 12
EPOCHS = 6000
HERE = Path(__file__).parent


def iris() -> tuple[torch.Tensor, torch.Tensor]:
    """Sepal length and width of setosa (label -1) and versicolor (label 1), each feature standardised."""
    features, species = load_iris(return_X_y=True)
    kept = species < 2
    inputs = features[kept][:, :2]
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    return torch.tensor(inputs, dtype=torch.float32), torch.tensor(2.0 * species[kept] - 1, dtype=torch.float32)


def main() -> None:
    """Train by Adam on the logistic loss, then store the weights and the data as the network saw them."""
    torch.manual_seed(0)
    X, y = iris()
    model = torch.nn.Sequential(torch.nn.Linear(2, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1, bias=False))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(EPOCHS):
        margins = y * model(X).squeeze(1)
        loss = torch.nn.functional.softplus(-margins).mean()
        if epoch % 1000 == 0:
            print(f"epoch {epoch:5d}   loss {loss.item():.3e}   least margin {margins.min().item():.3f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        margin = (y * model(X).squeeze(1)).min().item()
        print(f"trained        least margin {margin:.3f}")
        if margin <= 0:
            raise SystemExit("some points are misclassified; nothing is written")
        hidden, _, output = model
        np.savez(HERE / "net.npz", W=hidden.weight.numpy(), b=hidden.bias.numpy(), v=output.weight.numpy()[0], slope=0)
        np.savez(HERE / "data.npz", X=X.numpy(), y=y.numpy().astype(np.int8))


if __name__ == "__main__":
    main()
