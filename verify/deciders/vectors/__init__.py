"""Deciders of networks with several outputs: bounds of any width, stationarity, ways down."""
